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
