#if canImport(Darwin) || MCP_KQUEUE
#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A poller that uses kqueue, with a user event for wake-ups.
@safe struct KqueuePoller: ~Copyable, PollerProtocol {
    private static let capacity = 256

    /// The number of descriptors that a poller holds.
    static let descriptors = 1
    private let queue: FileDescriptor
    // SAFETY: allocated once, freed in deinit; accessed only by the thread that waits.
    private let events: UnsafeMutablePointer<kevent64_s>

    init() throws(IOError) {
        let queue = FileDescriptor(
            owning: Int32(truncatingIfNeeded: try Syscalls.require("kqueue") { Int(kqueue()) }))
        try Syscalls.setCloseOnExec(queue.rawValue)
        // This precedes the stored properties: a noncopyable value's initializer may throw only until it
        // begins to set them.
        try Self.change(queue.rawValue, 0, EVFILT_USER, EV_ADD | EV_CLEAR, .max)
        self.queue = queue
        unsafe events = .allocate(capacity: Self.capacity)
    }

    deinit { unsafe events.deallocate() }

    func add(_ fd: Int32, _ interest: Readiness, token: UInt64) throws(IOError) -> Bool {
        // EVFILT_READ reports nothing at the end of a regular file, which is always ready.
        if try Syscalls.status(fd).st_mode & S_IFMT == S_IFREG { return false }
        do {
            try modify(fd, from: [], to: interest, token: token)
            return true
        } catch {
            remove(fd, interest)
            // /dev/null and other devices for which kqueue does not support readiness.
            if error.errno == EINVAL { return false }
            throw error
        }
    }

    func modify(_ fd: Int32, from old: Readiness, to new: Readiness, token: UInt64) throws(IOError) {
        for (filter, interest) in Self.filters where new.contains(interest) != old.contains(interest) {
            let flags = new.contains(interest) ? EV_ADD : EV_DELETE
            try Self.change(queue.rawValue, UInt64(fd), filter, flags, token)
        }
    }

    func remove(_ fd: Int32, _ interest: Readiness) {
        // Fails only if the filter is not watched: closing the descriptor also removes it from the queue. The
        // filters are deleted one by one, so that a missing one does not prevent the removal of the others.
        for (filter, kind) in Self.filters where interest.contains(kind) {
            try? Self.change(queue.rawValue, UInt64(fd), filter, EV_DELETE, 0)
        }
    }

    private static let filters: [(Int32, Readiness)] = [
        (EVFILT_READ, .readable), (EVFILT_WRITE, .writable), (EVFILT_EXCEPT, .readClosed),
    ]

    private static func change(
        _ queue: Int32, _ ident: UInt64, _ filter: Int32, _ flags: Int32, _ token: UInt64
    ) throws(IOError) {
        var event = kevent64_s()
        event.ident = ident
        event.filter = Int16(filter)
        event.flags = UInt16(flags)
        event.udata = token
        if filter == EVFILT_EXCEPT {
            // This filter also reports bytes, unless the requested number is more than any buffer holds.
            event.fflags = UInt32(NOTE_LOWAT)
            event.data = .max
        }
        let watched = filter == EVFILT_USER ? queue : Int32(truncatingIfNeeded: ident)
        try Syscalls.require("kevent", on: watched) {
            Int(unsafe kevent64(queue, &event, 1, nil, 0, 0, nil))
        }
    }

    func wait(timeoutMilliseconds: Int32) throws(IOError) -> Int {
        var limit = timespec(milliseconds: Int(timeoutMilliseconds))
        let capacity = Int32(Self.capacity)
        return try Syscalls.wait("kevent_wait", on: queue.rawValue) {
            unsafe withUnsafePointer(to: &limit) { limit in
                Int(
                    unsafe kevent64(
                        queue.rawValue, nil, 0, events, capacity, 0, timeoutMilliseconds < 0 ? nil : limit))
            }
        }
    }

    func event(_ index: Int) -> PollEvent? {
        let event = unsafe events[index]
        switch Int32(event.filter) {
        case EVFILT_USER: return nil
        case EVFILT_WRITE: return PollEvent(token: event.udata, readiness: readiness(event, .writable))
        case EVFILT_EXCEPT:
            let ended: Readiness = event.flags & UInt16(EV_EOF) != 0 ? .readClosed : []
            return PollEvent(token: event.udata, readiness: readiness(event, ended))
        default:
            let ended: Readiness = event.flags & UInt16(EV_EOF) != 0 ? [.readable, .readClosed] : .readable
            return PollEvent(token: event.udata, readiness: readiness(event, ended))
        }
    }

    private func readiness(_ event: kevent64_s, _ base: Readiness) -> Readiness {
        event.flags & UInt16(EV_EOF) != 0 && event.fflags != 0 ? base.union(.hangup) : base
    }

    func wake() throws(IOError) {
        var event = kevent64_s()
        event.filter = Int16(EVFILT_USER)
        event.fflags = UInt32(NOTE_TRIGGER)
        try Syscalls.require("kevent_wake", on: queue.rawValue) {
            Int(unsafe kevent64(queue.rawValue, &event, 1, nil, 0, 0, nil))
        }
    }
}
#endif
