/// What a client has learned from the event streams of its sessions, one after the other.
struct HTTPServerStreams {
    /// Whether the server has sent one, if only for a moment.
    private(set) var hasBegun = false
    /// The sessions that the server did not know when their stream was opened, since the last that began.
    private var losses = 0
    private var backoff = Backoff(maximum: .seconds(30), maxAttempts: ClientConnection.maxAbsences)

    /// The number of sessions since then that were opened to replace one, and that have no stream either.
    var failures: Int { max(0, losses - 1) }

    /// Records that the server sends a stream.
    mutating func begin() {
        hasBegun = true
        losses = 0
        backoff.reset()
    }

    /// Records that the server refuses the stream as one of a session that it does not know. Returns the
    /// pause before another session is opened; nil when that was in vain too often.
    mutating func lose() -> Duration? {
        losses += 1
        return losses == 1 ? .zero : backoff.next(.seconds(1))
    }
}
