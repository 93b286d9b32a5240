/// What one view may cost its host.
public struct AppBridgeLimits: Sendable, Hashable {
    /// The size of one message in bytes: 1 MiB. The transport checks it, where bytes are known.
    public var maxMessageBytes = 1 << 20
    /// Messages of a view in one second that are taken: 200. As many again are answered with an error where
    /// they are requests, all further ones are dropped.
    public var maxMessagesPerSecond = 200
    /// Requests of a view that are not answered yet: 64. One more is answered with -32000.
    public var maxOpenRequests = 64
    /// How often a page may be loaded again in one minute: 20. After that it is given nothing.
    public var maxRestartsPerMinute = 20
    /// The greatest width and height that a view may wish for where the host names none: 100,000 CSS pixels.
    public var maxExtent: Double = 100_000
    /// How long a page may take until it says something: 10 s. Then `ViewEvent.silent` comes.
    public var helloTimeout: Duration = .seconds(10)
    /// How long a view has to take its leave: 5 s. Then it is removed.
    public var teardownTimeout: Duration = .seconds(5)
    /// How much time lies at least between two `ViewEvent.toolsChanged`: 1 s.
    public var toolsChangedPause: Duration = .seconds(1)

    /// The defaults.
    public init() {}
}

/// Counts in windows of a fixed length. Time is passed in.
struct RateWindow: Sendable {
    let length: Duration
    private var start: ContinuousClock.Instant?
    private(set) var count = 0

    init(_ length: Duration) { self.length = length }

    /// Counts one more, and says how many it are in this window.
    mutating func add(at now: ContinuousClock.Instant) -> Int {
        if let start, start.duration(to: now) < length {
            count += 1
        } else {
            start = now
            count = 1
        }
        return count
    }
}
