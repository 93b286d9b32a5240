/// How a hub of client tools behaves.
public struct ClientToolOptions: Sendable {
    /// Which of several clients that offer the same tool runs a call.
    public enum Routing: Sendable, Hashable {
        /// The one that registered last.
        case latest
        /// All of them; the first result counts, and the others are cancelled.
        case all
    }

    /// The channel of plain `/mcp`, and of a stdio server: `default`.
    public var defaultChannel = "default"
    /// How long a client may take for a call: 30 s, then the agent gets an error and the client a
    /// cancellation. A tool's own `mcpcore/timeoutMs`, 10 minutes at most, takes its place.
    public var callTimeout: Duration = .seconds(30)
    /// How long a client that lost its connection may take to come back: 5 s. Until then its tools stay in
    /// the list, and calls wait for it.
    public var graceTime: Duration = .seconds(5)
    /// How long a client that is gone is remembered, so that its tools get their names back: 60 s.
    public var timeToLive: Duration = .seconds(60)
    /// Which of several clients runs a call: `.latest`.
    public var routing = Routing.latest
    /// Takes a line for each registration, call and result; nil drops them.
    public var log: (@Sendable (String) -> Void)?

    /// The defaults.
    public init() {}
}
