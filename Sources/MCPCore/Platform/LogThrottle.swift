/// Limits how often the same event is logged.
struct LogThrottle {
    /// The shortest time between two lines.
    let interval: Duration
    private var next = MonotonicInstant(nanoseconds: 0)
    private var count = 0

    init(_ interval: Duration) { self.interval = interval }

    /// Counts an event. Returns the number of events since the last line, or nil when it is too early for
    /// another one.
    mutating func count(at now: MonotonicInstant) -> Int? {
        count += 1
        guard now >= next else { return nil }
        next = now + interval
        defer { count = 0 }
        return count
    }
}
