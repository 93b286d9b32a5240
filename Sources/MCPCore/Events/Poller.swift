/// A descriptor that became ready, by the number it was registered under.
struct PollEvent {
    let token: UInt64
    let readiness: Readiness
}

#if os(Linux)
typealias Poller = EpollPoller
#else
typealias Poller = KqueuePoller
#endif

/// What both pollers do. The event loop names the concrete type; the protocol only keeps the two alike.
///
/// Level-triggered: what is not read is reported again.
protocol PollerProtocol: ~Copyable {
    init() throws(IOError)

    /// Starts to watch. False: descriptors of this kind (regular files, /dev/null) are always ready.
    func add(_ fd: Int32, _ interest: Readiness, token: UInt64) throws(IOError) -> Bool
    func modify(_ fd: Int32, from old: Readiness, to new: Readiness, token: UInt64) throws(IOError)
    /// Must come before the descriptor is closed, which removes what this could not.
    func remove(_ fd: Int32, _ interest: Readiness)

    /// Waits until something is ready, a wake arrives or the time is over; returns the number of events.
    /// A signal ends the wait with 0 events.
    func wait(timeoutMilliseconds: Int32) throws(IOError) -> Int
    /// The event at `index` of the last wait, or nil for one that only woke the poller.
    func event(_ index: Int) -> PollEvent?

    /// Ends a wait, from any thread. When it throws, nobody was woken.
    func wake() throws(IOError)
}

/// What a descriptor is ready for, or is watched for.
struct Readiness: OptionSet, Sendable {
    let rawValue: UInt32

    /// Bytes, a connection or the end of the stream can be read.
    static let readable = Readiness(rawValue: 1)
    /// Bytes can be written.
    static let writable = Readiness(rawValue: 2)
    /// The other side is gone or the descriptor is broken; always reported, never asked for.
    static let hangup = Readiness(rawValue: 4)
    /// The other side has stopped writing. Ask for it to learn of a disconnect while reading is switched off.
    static let readClosed = Readiness(rawValue: 8)
}
