#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A socket that accepts connections.
struct ListenSocket: ~Copyable, Sendable {
    let descriptor: FileDescriptor
    let isTCP: Bool
    /// Whether the clients that wait at the socket can wait for another process that has it.
    let isInherited: Bool
    private let place: UnixSocketPath?

    static let backlog: Int32 = 4096

    /// Removes the socket's path, so that no further client can connect through it. The descriptor closes
    /// with the socket.
    func withdraw() { place?.release() }

    deinit {
        withdraw()
        // A program that is being started at this moment has the socket, too, until its file is loaded: it
        // would keep the port from the next server.
        if isTCP, !isInherited { try? Syscalls.shutdownAll(descriptor.rawValue) }
    }

    /// Whether only processes of this machine can connect.
    var isLoopback: Bool {
        guard isTCP else { return true }
        // A socket whose address cannot be determined counts as public.
        return (try? Syscalls.localAddress(descriptor.rawValue))??.isLoopback ?? false
    }

    /// Returns a duplicate of a socket that already listens.
    static func inherited(_ number: Int32) throws(ListenError) -> ListenSocket {
        do throws(IOError) {
            // Commands must not inherit it, and accepting must not wait for a client that has hung up.
            try Syscalls.setCloseOnExec(number)
            try Syscalls.setNonBlocking(number)
            let descriptor = FileDescriptor(owning: try Syscalls.duplicate(number, atLeast: 3))
            let isUnix = try Syscalls.localAddress(number)?.family == .unix
            return ListenSocket(descriptor: descriptor, isTCP: !isUnix, isInherited: true, place: nil)
        } catch {
            throw ListenError("cannot listen on descriptor \(number): \(error.reason)")
        }
    }

    /// Returns a listening TCP socket.
    ///
    /// There is one for all loops. With SO_REUSEPORT each loop could have its own, but so could any other
    /// program of this user, which would receive a share of the connections, and the tokens in them.
    static func tcp(_ address: SocketAddress) throws(ListenError) -> ListenSocket {
        do {
            let socket = try Syscalls.streamSocket(address.domain)
            try Syscalls.setOption(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, 1)
            try Syscalls.bind(socket.rawValue, to: address)
            try Syscalls.listen(socket.rawValue, backlog: backlog)
            return ListenSocket(descriptor: socket, isTCP: true, isInherited: false, place: nil)
        } catch {
            throw describe(error, address.description)
        }
    }

    private static func describe(_ error: IOError, _ address: String) -> ListenError {
        switch error.errno {
        case EADDRINUSE:
            ListenError(
                "cannot listen on \(address): another program uses it; --listen names another address")
        case EACCES:
            ListenError("cannot listen on \(address): not permitted; ports below 1024 need privileges")
        default: ListenError("cannot listen on \(address): \(error.reason)")
        }
    }

    /// Returns a listening unix socket. A socket file left behind by a dead server of this user is replaced,
    /// but nothing else (fault 95).
    static func unix(path: String, mode: UInt32, group: UInt32?) throws(ListenError) -> ListenSocket {
        guard let address = SocketAddress(unixPath: path) else {
            throw ListenError(
                "the socket path \(path) must be 1 to \(SocketAddress.maxUnixPathBytes) bytes long")
        }
        let place = try UnixSocketPath(path, address)
        let socket: FileDescriptor
        do throws(IOError) {
            socket = try Syscalls.streamSocket(address.domain)
        } catch {
            place.release()
            throw ListenError("cannot listen on unix://\(path): \(error)")
        }
        try place.bind(socket.rawValue, address, mode: mode, group: group)
        do throws(IOError) {
            try Syscalls.listen(socket.rawValue, backlog: backlog)
        } catch {
            place.release()
            throw ListenError("cannot listen on unix://\(path): \(error)")
        }
        return ListenSocket(descriptor: socket, isTCP: false, isInherited: false, place: place)
    }
}
