public import MCPCore
public import MCPHarness

/// How an `AppHost` behaves.
public struct AppHostOptions: Sendable {
    /// What the host says of itself to views.
    public var info = Implementation(name: "swift-mcp-core", version: "0.1.0")
    /// How servers are connected to. The capability for user interfaces, the handlers for questions and
    /// tasks are set by the host.
    public var client = ClientOptions()
    /// Which origins views may reach: the specification's own policy.
    public var csp = UICSPOptions()
    /// Decides instead of the tools' annotations whether calls run: nil, the annotations of trusted servers
    /// count.
    public var policies = PolicyTable()
    /// What views may use of the device when they ask for it: nothing.
    public var grants: Set<UIPermission> = []
    /// How long a tool, or the answer of a view, may take: 60 s.
    public var timeout: Duration = .seconds(60)
    /// How long a view has to take its leave: 5 s.
    public var teardownTimeout: Duration = .seconds(5)
    /// How long before a server that was lost is tried again at first; each further pause is twice as long:
    /// 0.5 s, at most 30 s.
    public var reconnectPause: Duration = .milliseconds(500)
    /// The model of the conversation; nil: there is none.
    public var model: (any LanguageModel)?
    /// What is known from earlier runs, the oldest first. At most 1,000 entries are kept.
    public var history: [HistoryEntry] = []
    /// Whether a view may speak to the model in the user's name without asking: false.
    public var trustsMessages = false
    /// Views at the same time: 32. One more call shows its result without a view.
    public var maxViews = 32

    /// The defaults.
    public init() {}
}

/// Why an `AppHost` did not do what it was asked to.
public enum AppHostError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no server of this id.
    case unknownServer(HostedServer.ID)
    /// The server has no tool of this name, or it cannot be reached.
    case unknownTool(String)
    /// There is no call of this id.
    case unknownCall(HostedCall.ID)
    /// There is no model to talk to.
    case noModel
    /// The arguments are no object.
    case invalidArguments
    /// More servers than a host takes: 32.
    case tooManyServers

    /// In words, with what to do.
    public var description: String {
        switch self {
        case .unknownServer(let id): "There is no server \(id); it may have been removed."
        case .unknownTool(let name): "The server has no tool \(name); nothing was called."
        case .unknownCall(let id): "There is no call \(id); it is too old to be repeated."
        case .noModel: "No model is configured, so nothing was said."
        case .invalidArguments: "The arguments of a tool are a JSON object; nothing was called."
        case .tooManyServers: "A host takes 32 servers; remove one first."
        }
    }
}
