/// The readiness of one descriptor, identified by the token of its registration.
struct PollEvent {
    let token: UInt64
    let readiness: Readiness
}

#if os(Linux) && !MCP_KQUEUE
typealias Poller = EpollPoller
#else
typealias Poller = KqueuePoller
#endif

/// The interface of both pollers. The event loop names the concrete type; the protocol only keeps the two
/// consistent.
///
/// Level-triggered: whatever is not read is reported again.
protocol PollerProtocol: ~Copyable {
    init() throws(IOError)

    /// Starts to watch a descriptor. Returns false if it is of a kind that is always ready (a regular file,
    /// /dev/null).
    func add(_ fd: Int32, _ interest: Readiness, token: UInt64) throws(IOError) -> Bool
    func modify(_ fd: Int32, from old: Readiness, to new: Readiness, token: UInt64) throws(IOError)
    /// Stops watching. Must be called before the descriptor is closed; closing removes what this call could
    /// not.
    func remove(_ fd: Int32, _ interest: Readiness)

    /// Waits until a descriptor is ready, a wake-up arrives or the timeout expires; returns the number of
    /// events. A signal ends the wait with 0 events.
    func wait(timeoutMilliseconds: Int32) throws(IOError) -> Int
    /// Returns the event at `index` of the last wait, or nil for one that only woke the poller.
    func event(_ index: Int) -> PollEvent?

    /// Ends a wait, from any thread. If it throws, the waiting thread was not woken.
    func wake() throws(IOError)
}

/// The operations that a descriptor is ready for or is watched for.
struct Readiness: OptionSet, Sendable {
    let rawValue: UInt32

    /// Bytes, a connection or the end of the stream can be read.
    static let readable = Readiness(rawValue: 1)
    /// Bytes can be written.
    static let writable = Readiness(rawValue: 2)
    /// The peer is gone or the descriptor is broken; always reported, never requested.
    static let hangup = Readiness(rawValue: 4)
    /// The peer has stopped writing. Request this to detect a disconnect while reading is switched off.
    static let readClosed = Readiness(rawValue: 8)
}
