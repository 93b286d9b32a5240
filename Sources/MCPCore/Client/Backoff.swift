/// The waits before successive attempts; each is twice as long as the one before, up to a maximum.
package struct Backoff: Sendable {
    /// The limit of a growing wait; an initial wait that is longer is kept as it is.
    let maximum: Duration
    /// The number of failed attempts after which no further one is made; nil for no limit.
    let maxAttempts: Int?
    /// The number of attempts since the last success.
    private(set) var attempts = 0

    /// Creates a backoff that starts with the first wait.
    package init(maximum: Duration, maxAttempts: Int? = nil) {
        self.maximum = maximum
        self.maxAttempts = maxAttempts
    }

    /// Counts an attempt and returns the wait before it; nil when no further attempt is to be made.
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

    /// Records that an attempt succeeded.
    package mutating func reset() { attempts = 0 }
}
