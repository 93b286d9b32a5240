/// The current state of a hub of client tools, and its totals so far.
public struct ClientToolCounts: Sendable, Hashable {
    /// The channels with clients or listeners.
    public var channels = 0
    /// The registered clients.
    public var clients = 0
    /// The tools that agents see.
    public var tools = 0
    /// The calls that are waiting for a client.
    public var callsInFlight = 0
    /// The open event streams.
    public var listeners = 0
    /// The calls so far.
    public var calls = 0
    /// The calls that no client answered in time.
    public var timeouts = 0
    /// The calls that the agent cancelled.
    public var cancelled = 0
    /// The calls whose client was gone.
    public var disconnects = 0
    /// The results that no caller waited for any more.
    public var lateResults = 0

    /// Creates counts of zero.
    public init() {}
}
