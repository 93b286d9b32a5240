#if os(Linux)
import CMCPSystem

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A poller that uses epoll, with an eventfd for wake-ups.
@safe struct EpollPoller: ~Copyable, PollerProtocol {
    /// The number of descriptors that a poller holds.
    static let descriptors = 2
    private static let capacity = 256
    private static let wakeToken = UInt64.max

    private let epoll: FileDescriptor
    private let wakeup: FileDescriptor
    // SAFETY: allocated once, freed in deinit; accessed only by the thread that waits.
    private let events: UnsafeMutablePointer<epoll_event>

    init() throws(IOError) {
        let epoll = FileDescriptor(
            owning: Int32(
                truncatingIfNeeded: try Syscalls.require("epoll_create1") {
                    Int(epoll_create1(Int32(EPOLL_CLOEXEC)))
                }))
        let wakeup = FileDescriptor(
            owning: Int32(
                truncatingIfNeeded: try Syscalls.require("eventfd") {
                    Int(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
                }))
        try Syscalls.require("epoll_ctl", on: wakeup.rawValue) {
            Int(mcp_epoll_ctl(epoll.rawValue, EPOLL_CTL_ADD, wakeup.rawValue, MCP_EPOLLIN, Self.wakeToken))
        }
        self.epoll = epoll
        self.wakeup = wakeup
        unsafe events = .allocate(capacity: Self.capacity)
    }

    deinit { unsafe events.deallocate() }

    func add(_ fd: Int32, _ interest: Readiness, token: UInt64) throws(IOError) -> Bool {
        do {
            try control(EPOLL_CTL_ADD, fd, interest, token)
            return true
        } catch {
            if error.errno == EPERM { return false }
            throw error
        }
    }

    func modify(_ fd: Int32, from old: Readiness, to new: Readiness, token: UInt64) throws(IOError) {
        try control(EPOLL_CTL_MOD, fd, new, token)
    }

    func remove(_ fd: Int32, _ interest: Readiness) {
        // Fails only if the descriptor is not watched: closing it also removes it from the set.
        try? control(EPOLL_CTL_DEL, fd, [], 0)
    }

    private func control(_ operation: Int32, _ fd: Int32, _ interest: Readiness, _ token: UInt64)
        throws(IOError)
    {
        var mask: UInt32 = 0
        if interest.contains(.readable) { mask |= MCP_EPOLLIN }
        if interest.contains(.writable) { mask |= MCP_EPOLLOUT }
        if interest.contains(.readClosed) { mask |= MCP_EPOLLRDHUP }
        try Syscalls.require("epoll_ctl", on: fd) {
            Int(mcp_epoll_ctl(epoll.rawValue, operation, fd, mask, token))
        }
    }

    func wait(timeoutMilliseconds: Int32) throws(IOError) -> Int {
        try Syscalls.wait("epoll_wait", on: epoll.rawValue) {
            Int(unsafe epoll_wait(epoll.rawValue, events, Int32(Self.capacity), timeoutMilliseconds))
        }
    }

    @inline(__always)
    func event(_ index: Int) -> PollEvent? {
        let token = unsafe mcp_epoll_data(events + index)
        if token == Self.wakeToken {
            drainWakeup()
            return nil
        }
        let mask = unsafe events[index].events
        var readiness: Readiness = []
        if mask & MCP_EPOLLIN != 0 { readiness.insert(.readable) }
        if mask & MCP_EPOLLOUT != 0 { readiness.insert(.writable) }
        if mask & MCP_EPOLLRDHUP != 0 { readiness.insert(.readClosed) }
        if mask & (MCP_EPOLLERR | MCP_EPOLLHUP) != 0 { readiness.insert(.hangup) }
        return PollEvent(token: token, readiness: readiness)
    }

    func wake() throws(IOError) {
        var one: UInt64 = 1
        // EAGAIN is an error as well: the counter would have to hold 2^64 pending wake-ups.
        try Syscalls.require("eventfd_write", on: wakeup.rawValue) {
            unsafe write(wakeup.rawValue, &one, MemoryLayout<UInt64>.size)
        }
    }

    private func drainWakeup() {
        var count: UInt64 = 0
        // A wake-up that was not read is reported again.
        _ = try? Syscalls.perform("eventfd_read", on: wakeup.rawValue) {
            unsafe read(wakeup.rawValue, &count, MemoryLayout<UInt64>.size)
        }
    }
}
#endif
