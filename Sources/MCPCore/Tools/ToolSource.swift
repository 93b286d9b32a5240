/// The name of a source of tools, unique in a harness.
public struct ToolSourceID: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name.
    public let name: String

    /// A name of 1 to 64 characters; it stands before the tool's name where two tools share one.
    public init(_ name: String) { self.name = name }

    /// A name.
    public init(stringLiteral value: String) { name = value }

    /// The name.
    public var description: String { name }
}

/// Where the code of a source's tools lives; by this its tools are asked for or not.
public enum ToolSourceKind: Sendable, Hashable {
    /// Closures of this program, which is trusted.
    case host
    /// An MCP server.
    case server
    /// A program that connected to offer tools.
    case client
    /// A view that a server brought along.
    case app
}

/// Tools whose code lives somewhere: in closures, in an MCP server, in a connected program, in a view.
public protocol ToolSource: Sendable {
    /// Its name in this harness.
    var id: ToolSourceID { get }
    /// What a person reads.
    var displayName: String { get }
    /// Where the code lives.
    var kind: ToolSourceKind { get }
    /// The tools as they are now.
    func tools() async throws -> [Tool]
    /// Runs a tool. A tool that failed is a result whose `isError` is true; errors are for calls that did not
    /// reach it.
    func call(_ invocation: ToolInvocation) async throws -> CallToolResult
    /// Says when the tools are no longer those that `tools()` returned.
    var changes: AsyncStream<Void> { get }
    /// The policy that comes with the tool, nil for none.
    func ownPolicy(of tool: String) -> ToolPolicy?
    /// Whether arguments are checked against the tool's schema before it runs.
    func checksArguments(of tool: String) -> Bool
    /// Whether the tool never runs at the same time as others of its round.
    func isSerial(_ tool: String) -> Bool
}

extension ToolSource {
    /// The source's name.
    public var displayName: String { id.name }
    /// The tools never change.
    public var changes: AsyncStream<Void> { AsyncStream { nil } }
    /// None.
    public func ownPolicy(of tool: String) -> ToolPolicy? { nil }
    /// They are.
    public func checksArguments(of tool: String) -> Bool { true }
    /// Only what changes something.
    public func isSerial(_ tool: String) -> Bool { false }
}
