/// The limits on the resources that one view may use.
public struct AppBridgeLimits: Sendable, Hashable {
    /// The maximum size of one message in bytes: 1 MiB by default. The transport checks it, where the bytes
    /// are known.
    public var maxMessageBytes = 1 << 20
    /// The number of messages from a view that are accepted per second: 200 by default. Beyond that, requests
    /// are answered with an error, up to the same number again; all other messages are dropped.
    public var maxMessagesPerSecond = 200
    /// The number of pending requests of a view: 64 by default. A further one is answered with -32000.
    public var maxOpenRequests = 64
    /// The number of times that a page may be reloaded in one minute: 20 by default. After that, it receives
    /// nothing.
    public var maxRestartsPerMinute = 20
    /// The greatest width and height that a view may request if the host sets no limit: 100,000 CSS pixels by
    /// default.
    public var maxExtent: Double = 100_000
    /// The time within which a page must send its first message: 10 s by default. After that,
    /// `ViewEvent.silent` is reported.
    public var helloTimeout: Duration = .seconds(10)
    /// The time that a view has to respond to its teardown: 5 s by default. After that, it is removed.
    public var teardownTimeout: Duration = .seconds(5)
    /// The time between two progress notifications for a request of the view that is in progress and has a
    /// progress token: 15 s by default. Views wait 60 s for a response, and start again with each of them.
    public var heartbeat: Duration = .seconds(15)
    /// The minimum time between two `ViewEvent.toolsChanged`: 1 s by default.
    public var toolsChangedPause: Duration = .seconds(1)

    /// Creates limits with the default values.
    public init() {}
}

/// A counter over windows of a fixed length. The time is passed in.
struct RateWindow: Sendable {
    let length: Duration
    private var start: ContinuousClock.Instant?
    private(set) var count = 0

    init(_ length: Duration) { self.length = length }

    /// Counts one more event and returns the number of events in this window.
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
