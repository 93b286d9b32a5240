public import MCPCore
public import MCPHarness

/// The options of an `AppHost`.
public struct AppHostOptions: Sendable {
    /// The host's description of itself for views.
    public var info = Implementation(name: "swift-mcp-core", version: PackageVersion.current)
    /// The options for the connections to servers. The host itself sets the capability for user interfaces,
    /// the handlers for questions, and the use of tasks.
    public var client = ClientOptions()
    /// The origins that views may reach: those of the specification's own policy.
    public var csp = UICSPOptions()
    /// The policies that decide, instead of the tools' annotations, whether calls run. Without any, the
    /// annotations of trusted servers count.
    public var policies = PolicyTable()
    /// The device features that views may use when they request them: none.
    public var grants: Set<UIPermission> = []
    /// The time that a tool, or the answer of a view, may take: 60 s.
    public var timeout: Duration = .seconds(60)
    /// The time that a view has to shut down: 5 s.
    public var teardownTimeout: Duration = .seconds(5)
    /// The pause before a server that was lost is tried again for the first time: 0.5 s. Each further pause
    /// is twice as long, at most 30 s.
    public var reconnectPause: Duration = .milliseconds(500)
    /// The model of the conversation; `nil` if there is none.
    public var model: (any LanguageModel)?
    /// The entries known from earlier runs, the oldest first. At most 1,000 entries are kept.
    public var history: [HistoryEntry] = []
    /// Whether a view may send messages to the model in the user's name without asking: false.
    public var trustsMessages = false
    /// The number of views at the same time: 32. A further call shows its result without a view.
    public var maxViews = 32

    /// Creates the default options.
    public init() {}
}

/// The reason why an `AppHost` did not do what it was asked to do.
public enum AppHostError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no server with this id.
    case unknownServer(HostedServer.ID)
    /// The server has no tool with this name, or it cannot be reached.
    case unknownTool(String)
    /// Another client runs the tool now than the user was shown.
    case otherClient(tool: String)
    /// There is no call with this id.
    case unknownCall(HostedCall.ID)
    /// There is no model to send messages to.
    case noModel
    /// The arguments are not an object.
    case invalidArguments
    /// There are more servers than a host accepts: 32.
    case tooManyServers

    /// The error in words, with advice on what to do.
    public var description: String {
        switch self {
        case .unknownServer(let id): "There is no server \(id); it may have been removed."
        case .unknownTool(let name): "The server has no tool \(name); nothing was called."
        case .otherClient(let name):
            "Another client offers \(name) now; nothing was called. Choose the tool again to see which."
        case .unknownCall(let id): "There is no call \(id); it is too old to be repeated."
        case .noModel: "No model is configured, so nothing was sent."
        case .invalidArguments: "The arguments of a tool must be a JSON object; nothing was called."
        case .tooManyServers: "A host accepts at most 32 servers; remove one first."
        }
    }
}
