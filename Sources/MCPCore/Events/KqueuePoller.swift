#if canImport(Darwin)
import Darwin

/// Readiness by kqueue, with a user event for wake-ups.
@safe struct KqueuePoller: ~Copyable, PollerProtocol {
    private static let capacity = 256

    /// How many descriptors a poller holds.
    static let descriptors = 1
    private let queue: FileDescriptor
    // SAFETY: allocated once, freed in deinit; only the thread that waits touches it.
    private let events: UnsafeMutablePointer<kevent64_s>

    init() throws(IOError) {
        let queue = FileDescriptor(
            owning: Int32(truncatingIfNeeded: try Syscalls.require("kqueue") { Int(kqueue()) }))
        _ = fcntl(queue.rawValue, F_SETFD, FD_CLOEXEC)
        self.queue = queue
        unsafe events = .allocate(capacity: Self.capacity)
        try change(0, EVFILT_USER, EV_ADD | EV_CLEAR, .max)
    }

    deinit { unsafe events.deallocate() }

    func add(_ fd: Int32, _ interest: Readiness, token: UInt64) throws(IOError) -> Bool {
        try modify(fd, from: [], to: interest, token: token)
        return true
    }

    func modify(_ fd: Int32, from old: Readiness, to new: Readiness, token: UInt64) throws(IOError) {
        let (read, wasRead) = (Self.wantsRead(new), Self.wantsRead(old))
        let (write, wasWrite) = (new.contains(.writable), old.contains(.writable))
        if read != wasRead { try change(UInt64(fd), EVFILT_READ, read ? EV_ADD : EV_DELETE, token) }
        if write != wasWrite { try change(UInt64(fd), EVFILT_WRITE, write ? EV_ADD : EV_DELETE, token) }
    }

    func remove(_ fd: Int32, _ interest: Readiness) {
        try? modify(fd, from: interest, to: [], token: 0)
    }

    private static func wantsRead(_ interest: Readiness) -> Bool { interest.contains(.readable) }

    private func change(_ ident: UInt64, _ filter: Int32, _ flags: Int32, _ token: UInt64) throws(IOError) {
        var event = kevent64_s()
        event.ident = ident
        event.filter = Int16(filter)
        event.flags = UInt16(flags)
        event.udata = token
        try Syscalls.require("kevent") { Int(unsafe kevent64(queue.rawValue, &event, 1, nil, 0, 0, nil)) }
    }

    func wait(timeoutMilliseconds: Int32) -> Int {
        var limit = timespec(
            tv_sec: Int(timeoutMilliseconds) / 1_000, tv_nsec: Int(timeoutMilliseconds) % 1_000 * 1_000_000)
        let capacity = Int32(Self.capacity)
        let count = unsafe withUnsafePointer(to: &limit) { limit in
            unsafe kevent64(
                queue.rawValue, nil, 0, events, capacity, 0, timeoutMilliseconds < 0 ? nil : limit)
        }
        return max(0, Int(count))
    }

    func event(_ index: Int) -> PollEvent? {
        let event = unsafe events[index]
        switch Int32(event.filter) {
        case EVFILT_USER: return nil
        case EVFILT_WRITE: return PollEvent(token: event.udata, readiness: readiness(event, .writable))
        default:
            let ended: Readiness = event.flags & UInt16(EV_EOF) != 0 ? [.readable, .readClosed] : .readable
            return PollEvent(token: event.udata, readiness: readiness(event, ended))
        }
    }

    private func readiness(_ event: kevent64_s, _ base: Readiness) -> Readiness {
        event.flags & UInt16(EV_EOF) != 0 && event.fflags != 0 ? base.union(.hangup) : base
    }

    func wake() {
        var event = kevent64_s()
        event.filter = Int16(EVFILT_USER)
        event.fflags = UInt32(NOTE_TRIGGER)
        _ = unsafe kevent64(queue.rawValue, &event, 1, nil, 0, 0, nil)
    }
}
#endif
