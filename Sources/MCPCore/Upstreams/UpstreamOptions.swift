/// The options of a server behind a server.
public struct UpstreamOptions: Sendable {
    /// The text in front of the names of all tools and prompts; nil adds the server's name to those names
    /// that something else has as well.
    public var prefix: String?
    /// The tools that are offered: patterns such as `get_*`, and with `!` in front those that are left out;
    /// all by default.
    public var tools: [String] = []
    /// The URIs of the resources that are offered, as patterns; all by default. A URI that servers may take
    /// for another one fits no pattern but `*`; one that is left out is so in any spelling.
    public var resources: [String] = []
    /// The prompts that are offered, as patterns; all by default.
    public var prompts: [String] = []
    /// Other names for tools and prompts, by the name that the server uses.
    public var rename: [String: String] = [:]
    /// Hints that replace those of the server, by the name of the tool at the server.
    public var annotations: [String: ToolAnnotations] = [:]
    /// The time without calls after which the connection is closed, and the program ended; nil keeps it.
    public var idle: Duration?
    /// Whether a connection that ended is opened again without a call, after a growing wait; true by default.
    public var restarts = true
    /// The longest time that the server may be silent during a call: 60 s. Progress starts it again.
    public var timeout: Duration = .seconds(60)
    /// The longest time that connecting may take: 60 s.
    public var connectTimeout: Duration = .seconds(60)
    /// The calls that run at the same time on one connection: 64; others wait. On a connection that
    /// principals share, at most three quarters of them are those of one principal.
    public var concurrency = 64
    /// Whether every principal has a connection of its own; false by default.
    public var isPerPrincipal = false
    /// The revision of the protocol to use; by default the newest one that the server supports.
    public var `protocol` = ClientOptions.ProtocolChoice.auto
    /// The HTTP header fields of each request.
    public var headers: [(String, String)] = []
    /// The longest message that is accepted: 16 MiB.
    public var maxMessageBytes = 16 << 20
    /// Texts that are replaced in errors and logs, such as the values of secret variables; those of less than
    /// 4 bytes are not.
    public var secrets: [String] = []
    /// What tools, prompts and templates must be to be offered; nil accepts any.
    package var pins: UpstreamPins?
    /// Receives the lines that a program writes to stderr.
    public var onStderr: (@Sendable (String) -> Void)?

    /// Creates the default options.
    public init() {}
}

/// The state of a server behind a server.
public struct UpstreamStatus: Sendable, Hashable {
    /// The state of the connection.
    public enum State: String, Sendable, Hashable {
        /// Not connected; the next call connects.
        case idle
        /// Being connected.
        case connecting
        /// Connected.
        case ready
        /// The last attempt failed, or the connection ended.
        case failed
        /// Stopped for good.
        case stopped
    }

    /// The name of the server in this program.
    public var name: String
    /// The state.
    public var state: State
    /// The number of calls so far.
    public var calls = 0
    /// The number of calls that the server did not answer.
    public var errors = 0
    /// The reason for the last failure, on one line; nil if there was none.
    public var lastError: String?
    /// The time until the next attempt to connect; nil if none is planned.
    public var nextTry: Duration?
    /// The number of tools that the server offers here.
    public var tools = 0
    /// What the server offers and what is left out, with the reason, in words for people.
    public var notes: [String] = []
}

/// An event of a server behind a server.
public enum UpstreamEvent: Sendable {
    /// The server has another state.
    case status(UpstreamStatus)
    /// Tools, resources or prompts are other ones.
    case listsChanged
    /// The resource at this URI has changed.
    case resourceUpdated(String)
}

/// Patterns for names: those that match, except those that match a pattern with `!` in front.
struct UpstreamFilter: Sendable {
    private let wanted: [Glob]
    private let unwanted: [Glob]

    init(_ patterns: [String]) {
        wanted = patterns.filter { !$0.hasPrefix("!") }.map { Glob($0) }
        unwanted = patterns.filter { $0.hasPrefix("!") }.map { Glob(String($0.dropFirst())) }
    }

    func allows(_ name: String) -> Bool {
        (wanted.isEmpty || wanted.contains { $0.matches(name) })
            && !unwanted.contains { $0.matches(name) }
    }
}
