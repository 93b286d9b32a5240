#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A socket that connections arrive on.
struct ListenSocket: ~Copyable, Sendable {
    let descriptor: FileDescriptor
    let isTCP: Bool
    private let lock: UnixSocketLock?

    private static let backlog: Int32 = 4096

    /// Nobody can connect by the path any more. The descriptor closes with the socket.
    func withdraw() { lock?.release() }

    /// Whether the kernel balances connections among the sockets of one address.
    static var canBeShared: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// A listening TCP socket.
    ///
    /// `shared` lets several loops have one each, among which the kernel balances. It would also let a second
    /// server bind the same port unnoticed, so whoever shares binds once without it first.
    static func tcp(_ address: SocketAddress, shared: Bool) throws(ListenError) -> ListenSocket {
        do {
            let socket = try Syscalls.streamSocket(address.domain)
            try Syscalls.setOption(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, 1)
            #if os(Linux)
            if shared { try Syscalls.setOption(socket.rawValue, SOL_SOCKET, SO_REUSEPORT, 1) }
            #endif
            try Syscalls.bind(socket.rawValue, to: address)
            try Syscalls.listen(socket.rawValue, backlog: backlog)
            return ListenSocket(descriptor: socket, isTCP: true, lock: nil)
        } catch {
            throw describe(error, address.description)
        }
    }

    private static func describe(_ error: IOError, _ address: String) -> ListenError {
        switch error.errno {
        case EADDRINUSE:
            ListenError("cannot listen on \(address): it is in use; choose another with --listen")
        case EACCES:
            ListenError("cannot listen on \(address): not permitted; ports below 1024 need privileges")
        default: ListenError("cannot listen on \(address): \(error.reason)")
        }
    }

    /// A unix socket. A socket file that a dead process left is replaced; one whose owner lives is not (fault
    /// 95).
    static func unix(path: String, mode: UInt32, group: UInt32?) throws(ListenError) -> ListenSocket {
        guard let address = SocketAddress(unixPath: path) else {
            throw ListenError(
                "the socket path \(path) must be 1 to \(SocketAddress.maxUnixPathBytes) bytes long")
        }
        do {
            return try unix(path, address, mode, group)
        } catch {
            if error.errno == EAGAIN {
                throw ListenError("cannot listen on unix://\(path): another server is using it")
            }
            throw ListenError("cannot listen on unix://\(path): \(error)")
        }
    }

    private static func unix(
        _ path: String, _ address: SocketAddress, _ mode: UInt32, _ group: UInt32?
    ) throws(IOError) -> ListenSocket {
        let lock = try UnixSocketLock(path: path)
        unsafe unlink(path)
        let socket = try Syscalls.streamSocket(address.domain)
        // The mask makes the file private from its first moment; the wanted mode comes before `listen`.
        let mask = umask(0o177)
        defer { umask(mask) }
        try Syscalls.bind(socket.rawValue, to: address)
        if let group, unsafe chown(path, uid_t.max, gid_t(group)) != 0 { throw IOError("chown") }
        if unsafe chmod(path, mode_t(mode)) != 0 { throw IOError("chmod") }
        try Syscalls.listen(socket.rawValue, backlog: backlog)
        return ListenSocket(descriptor: socket, isTCP: false, lock: lock)
    }
}

/// Holds `PATH.lock` for as long as a server uses the socket at PATH, and removes the socket at the end.
private final class UnixSocketLock: Sendable {
    private let counted = Counted(.unixSocketLock)
    private let path: String
    private let descriptor: FileDescriptor

    init(path: String) throws(IOError) {
        self.path = path
        let opened = try Syscalls.open(
            "\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode: 0o600)
        try Syscalls.require("flock", on: opened.rawValue) { Int(flock(opened.rawValue, LOCK_EX | LOCK_NB)) }
        descriptor = opened
    }

    /// Removes the socket, so that nobody finds a file that leads nowhere.
    func release() { unsafe unlink(path) }

    deinit { release() }
}
