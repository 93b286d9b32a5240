/// The settings of a hub of client tools.
public struct ClientToolOptions: Sendable {
    /// The choice of the client that runs a call when several offer the same tool.
    public enum Routing: Sendable, Hashable {
        /// The client that registered last.
        case latest
        /// All of them; the first result is used, and the others are cancelled.
        case all
    }

    /// The channel of plain `/mcp`, and of a stdio server; `default` by default.
    public var defaultChannel = "default"
    /// The longest time that a client may take for a call: 30 s by default. After that, the agent receives an
    /// error and the client a cancellation. A tool's own `mcpcore/timeoutMs`, at most 10 minutes, overrides
    /// it.
    public var callTimeout: Duration = .seconds(30)
    /// The time within which a client that lost its connection may reconnect: 5 s by default. Until then its
    /// tools stay in the list, and calls wait for it.
    public var graceTime: Duration = .seconds(5)
    /// The time for which a client that is gone is remembered, so that its tools get their names back: 60 s
    /// by default.
    public var timeToLive: Duration = .seconds(60)
    /// The choice of the client that runs a call; `.latest` by default.
    public var routing = Routing.latest
    /// The backend that passes calls on to Stream Chat clients that do not listen to the hub's own events;
    /// nil by default. With a backend, the tools of such clients stay listed until they are replaced.
    public var backend: StreamChatBackend?
    /// Receives a line for each registration, call and result; nil drops them.
    public var log: (@Sendable (String) -> Void)?

    /// Creates options with the default values.
    public init() {}
}
