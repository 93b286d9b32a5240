/// What a hub of client tools has at one moment, and what happened so far.
public struct ClientToolCounts: Sendable, Hashable {
    /// Channels with clients or listeners.
    public var channels = 0
    /// Clients that are registered.
    public var clients = 0
    /// Tools that agents see.
    public var tools = 0
    /// Calls that wait for a client.
    public var callsInFlight = 0
    /// Open event streams.
    public var listeners = 0
    /// Calls so far.
    public var calls = 0
    /// Calls that no client answered in time.
    public var timeouts = 0
    /// Calls that the agent gave up.
    public var cancelled = 0
    /// Calls whose client was gone.
    public var disconnects = 0
    /// Results that nobody waited for any more.
    public var lateResults = 0

    /// Nothing.
    public init() {}
}
