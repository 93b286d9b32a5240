/// The name of a tool source, unique within a harness.
public struct ToolSourceID: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name.
    public let name: String

    /// Creates a name of 1 to 64 characters. It is put in front of the tool's name when two tools share one.
    public init(_ name: String) { self.name = name }

    /// Creates a name from a string literal.
    public init(stringLiteral value: String) { name = value }

    /// The name.
    public var description: String { name }
}

/// The kind of code behind a source's tools, which affects whether its calls need approval.
public enum ToolSourceKind: Sendable, Hashable {
    /// Closures in this program, which is trusted.
    case host
    /// An MCP server.
    case server
    /// A connected program that offers tools.
    case client
    /// A view provided by a server.
    case app
}

/// A source of tools, whose code may be in closures, an MCP server, a connected program or a view.
public protocol ToolSource: Sendable {
    /// The name of the source in this harness.
    var id: ToolSourceID { get }
    /// The name shown to a person.
    var displayName: String { get }
    /// The kind of code behind the tools.
    var kind: ToolSourceKind { get }
    /// The identity of the source in every run of the program, under which decisions are remembered: for a
    /// server, its address or its whole command line.
    var identity: String { get }
    /// Returns the current tools.
    func tools() async throws -> [Tool]
    /// Returns what the source tells a model about the use of its tools; nil for nothing.
    ///
    /// The harness quotes the text in the source's name, within limits. A tool's own instructions are in its
    /// `_meta["mcpcore/instructions"]`.
    func instructions() async -> String?
    /// Runs a tool.
    ///
    /// If the tool fails, the result has `isError` set to true; errors are thrown only for calls that did not
    /// reach the tool.
    func call(_ invocation: ToolInvocation) async throws -> CallToolResult
    /// A stream with an element each time the tools differ from those that `tools()` returned.
    var changes: AsyncStream<Void> { get }
    /// Returns the policy declared with the tool, or nil if there is none.
    func ownPolicy(of tool: String) -> ToolPolicy?
    /// Returns whether arguments are checked against the tool's schema before it runs.
    func checksArguments(of tool: String) -> Bool
    /// Returns whether the tool must not run at the same time as other tools in its round.
    func isSerial(_ tool: String) -> Bool
}

extension ToolSource {
    /// The name of the source; the default.
    public var displayName: String { id.name }
    /// The name of the source; the default.
    public var identity: String { id.name }
    /// Returns nil: by default a source has no instructions.
    public func instructions() async -> String? { nil }
    /// A stream that ends at once, because by default the tools never change.
    public var changes: AsyncStream<Void> { AsyncStream { nil } }
    /// Returns nil: by default a tool has no policy of its own.
    public func ownPolicy(of tool: String) -> ToolPolicy? { nil }
    /// Returns true: arguments are checked by default.
    public func checksArguments(of tool: String) -> Bool { true }
    /// Returns false: by default only tools that change something run alone.
    public func isSerial(_ tool: String) -> Bool { false }
}
