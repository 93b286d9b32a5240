// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

#if MCP_KQUEUE && os(Linux)
import CMCPSystem
import Glibc
import Synchronization

// What `KqueuePoller` uses of kqueue, over epoll, so that the tests of the loop and of the transports run on
// that poller on Linux (`make kqueue`). Modelled after XNU: one event for each filter of a descriptor, EV_EOF
// in place of a hangup, EVFILT_EXCEPT for sockets only, EINVAL for what cannot be watched, ENOENT for what is
// not watched. Never part of a program. The names are those of the C library.

let EVFILT_READ: Int32 = -1
let EVFILT_WRITE: Int32 = -2
let EVFILT_USER: Int32 = -10
let EVFILT_EXCEPT: Int32 = -15
let EV_ADD: Int32 = 0x1
let EV_DELETE: Int32 = 0x2
let EV_CLEAR: Int32 = 0x20
let EV_EOF: Int32 = 0x8000
let NOTE_LOWAT: Int32 = 0x1
let NOTE_TRIGGER: Int32 = 0x0100_0000

struct kevent64_s {
    var ident: UInt64 = 0
    var filter: Int16 = 0
    var flags: UInt16 = 0
    var fflags: UInt32 = 0
    var data: Int64 = 0
    var udata: UInt64 = 0
}

/// Returns a new queue: an epoll descriptor, whose filters stand in a table of this process.
func kqueue() -> Int32 {
    let queue = epoll_create1(0)
    guard queue >= 0 else { return queue }
    KqueueDouble.queues.withLock { $0[queue] = KqueueDouble() }
    return queue
}

/// Changes one filter, or waits for events.
func kevent64(
    _ queue: Int32, _ changes: UnsafePointer<kevent64_s>?, _ changeCount: Int32,
    _ events: UnsafeMutablePointer<kevent64_s>?, _ capacity: Int32, _ flags: UInt32,
    _ timeout: UnsafePointer<timespec>?
) -> Int32 {
    if let change = unsafe changes?.pointee {
        let error = KqueueDouble.queues.withLock { $0[queue]?.change(change, in: queue) ?? EBADF }
        errno = error
        return error == 0 ? 0 : -1
    }
    guard let events = unsafe events else { return 0 }
    // Each descriptor may give three events.
    var ready = unsafe [epoll_event](repeating: epoll_event(), count: max(1, Int(capacity) / 3))
    let limit = unsafe timeout.map {
        Int32(unsafe $0.pointee.tv_sec * 1_000 + $0.pointee.tv_nsec / 1_000_000)
    }
    let count = unsafe epoll_wait(queue, &ready, Int32(ready.count), limit ?? -1)
    guard count > 0 else { return count }
    // The descriptor and the events of each.
    let reported = unsafe ready.prefix(Int(count)).map { event -> (token: UInt64, mask: UInt32) in
        var event = unsafe event
        return unsafe (mcp_epoll_data(&event), event.events)
    }
    let found = KqueueDouble.queues.withLock { queues in
        reported.flatMap { queues[queue]?.events(of: $0.token, $0.mask) ?? [] }
    }
    for (place, event) in found.enumerated() { unsafe events[place] = event }
    return Int32(found.count)
}

/// The filters of one queue.
struct KqueueDouble {
    fileprivate static let queues = Mutex<[Int32: KqueueDouble]>([:])
    private static let userToken = UInt64.max
    /// Always readable: what a queue watches while its user event is triggered.
    private static let always = eventfd(1, Int32(EFD_CLOEXEC | EFD_NONBLOCK))

    private struct Filter {
        var kind: Int32
        var token: UInt64
    }

    private var filters: [Int32: [Filter]] = [:]

    fileprivate mutating func change(_ change: kevent64_s, in queue: Int32) -> Int32 {
        let kind = Int32(change.filter)
        let adds = Int32(change.flags) & EV_ADD != 0
        if kind == EVFILT_USER { return Self.trigger(change, queue, adds: adds) }
        guard let fd = Int32(exactly: change.ident), fcntl(fd, F_GETFD) >= 0 else { return EBADF }
        var list = filters[fd] ?? []
        // Closing a descriptor removes its filters; another one may have its number since.
        if !list.isEmpty, !isWatched(fd, queue, list) { list = [] }
        if adds {
            if kind == EVFILT_EXCEPT, !Self.isSocket(fd) { return EINVAL }
            let before = list
            list.removeAll { $0.kind == kind }
            list.append(Filter(kind: kind, token: change.udata))
            let operation = before.isEmpty ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
            guard mcp_epoll_ctl(queue, operation, fd, mask(list), UInt64(UInt32(bitPattern: fd))) == 0 else {
                return errno == EPERM ? EINVAL : errno
            }
        } else {
            guard list.contains(where: { $0.kind == kind }) else {
                filters[fd] = list.isEmpty ? nil : list
                return ENOENT
            }
            list.removeAll { $0.kind == kind }
            let operation = list.isEmpty ? EPOLL_CTL_DEL : EPOLL_CTL_MOD
            // Fails for a descriptor that is gone, and its filters with it.
            _ = mcp_epoll_ctl(queue, operation, fd, mask(list), UInt64(UInt32(bitPattern: fd)))
        }
        filters[fd] = list.isEmpty ? nil : list
        return 0
    }

    private static func trigger(_ change: kevent64_s, _ queue: Int32, adds: Bool) -> Int32 {
        // One shot, as EV_CLEAR: reported once for each time that it is triggered.
        let mask = adds ? 0 : MCP_EPOLLIN | 1 << 30
        let operation = adds ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        return mcp_epoll_ctl(queue, operation, always, mask, userToken) == 0 ? 0 : errno
    }

    private func isWatched(_ fd: Int32, _ queue: Int32, _ list: [Filter]) -> Bool {
        mcp_epoll_ctl(queue, EPOLL_CTL_MOD, fd, mask(list), UInt64(UInt32(bitPattern: fd))) == 0
    }

    private func mask(_ list: [Filter]) -> UInt32 {
        list.reduce(0) { mask, filter in
            switch filter.kind {
            case EVFILT_READ: mask | MCP_EPOLLIN | MCP_EPOLLRDHUP
            case EVFILT_WRITE: mask | MCP_EPOLLOUT
            default: mask | MCP_EPOLLRDHUP
            }
        }
    }

    private static func isSocket(_ fd: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(fd, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// The events of one descriptor, one for each filter that is ready. Without a filter there is none:
    /// kqueue reports no hangup of a descriptor that nothing watches.
    fileprivate func events(of token: UInt64, _ mask: UInt32) -> [kevent64_s] {
        if token == Self.userToken { return [kevent64_s(filter: Int16(EVFILT_USER))] }
        let fd = Int32(truncatingIfNeeded: token)
        let isBroken = mask & (MCP_EPOLLERR | MCP_EPOLLHUP) != 0
        let endsReading = isBroken || mask & MCP_EPOLLRDHUP != 0
        let error = mask & MCP_EPOLLERR != 0 && Self.isSocket(fd) ? ECONNRESET : 0
        return (filters[fd] ?? []).compactMap { filter in
            let isReady =
                switch filter.kind {
                case EVFILT_READ: endsReading || mask & MCP_EPOLLIN != 0
                case EVFILT_WRITE: isBroken || mask & MCP_EPOLLOUT != 0
                default: endsReading
                }
            guard isReady else { return nil }
            let ended = filter.kind == EVFILT_WRITE ? isBroken : endsReading
            return kevent64_s(
                ident: UInt64(UInt32(bitPattern: fd)), filter: Int16(filter.kind),
                flags: ended ? UInt16(EV_EOF) : 0, fflags: UInt32(bitPattern: error), udata: filter.token)
        }
    }
}
#endif
