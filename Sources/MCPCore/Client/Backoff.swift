/// How long to wait before each of several attempts: twice as long every time, up to a maximum.
package struct Backoff: Sendable {
    /// A wait grows no further; a first wait that is longer is kept.
    let maximum: Duration
    /// Attempts without success after which there is no other; nil: no limit.
    let maxAttempts: Int?
    /// Attempts since the last success.
    private(set) var attempts = 0

    /// The first wait is the next one.
    package init(maximum: Duration, maxAttempts: Int? = nil) {
        self.maximum = maximum
        self.maxAttempts = maxAttempts
    }

    /// Counts an attempt and returns the wait before it; nil when there is to be none.
    package mutating func next(_ initial: Duration) -> Duration? {
        if let maxAttempts, attempts >= maxAttempts { return nil }
        var delay = initial
        var doublings = attempts
        while doublings > 0, delay > .zero, delay < maximum {
            delay = min(delay * 2, maximum)
            doublings -= 1
        }
        attempts += 1
        return delay
    }

    /// An attempt had success.
    package mutating func reset() { attempts = 0 }
}
