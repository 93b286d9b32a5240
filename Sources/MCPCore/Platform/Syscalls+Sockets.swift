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

extension Syscalls {
    /// Creates a non-blocking, close-on-exec stream socket.
    static func streamSocket(_ domain: Int32) throws(IOError) -> FileDescriptor {
        #if os(Linux)
        let fd = try require("socket") { Int(socket(domain, streamType | socketFlags, 0)) }
        return FileDescriptor(owning: Int32(truncatingIfNeeded: fd))
        #else
        let fd = try require("socket") { Int(socket(domain, streamType, 0)) }
        let descriptor = FileDescriptor(owning: Int32(truncatingIfNeeded: fd))
        try prepareDarwinSocket(descriptor.rawValue)
        return descriptor
        #endif
    }

    /// Creates two connected unix sockets, non-blocking and close-on-exec.
    static func socketPair() throws(IOError) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
        let type = streamType | socketFlags
        #else
        let type = streamType
        #endif
        try require("socketpair") { Int(unsafe socketpair(AF_UNIX, type, 0, &ends)) }
        let one = FileDescriptor(owning: ends[0])
        let other = FileDescriptor(owning: ends[1])
        #if !os(Linux)
        for end in ends { try prepareDarwinSocket(end) }
        #endif
        return (one.release(), other.release())
    }

    static func bind(_ fd: Int32, to address: SocketAddress) throws(IOError) {
        try require("bind", on: fd) { Int(unsafe address.withSockaddr { unsafe sysBind(fd, $0, $1) }) }
    }

    static func listen(_ fd: Int32, backlog: Int32) throws(IOError) {
        try require("listen", on: fd) { Int(sysListen(fd, backlog)) }
    }

    /// Starts to connect. False: the connection is in progress, and once the socket is writable,
    /// `connectionError` returns the outcome.
    static func connect(_ fd: Int32, to address: SocketAddress) throws(IOError) -> Bool {
        do {
            // A unix socket whose backlog is full returns EAGAIN; there is nothing to wait for then.
            try require("connect", on: fd) {
                Int(unsafe address.withSockaddr { unsafe sysConnect(fd, $0, $1) })
            }
            return true
        } catch {
            if error.errno == EINPROGRESS { return false }
            if error.errno == EISCONN { return true }
            if error.errno == EALREADY { return false }
            throw error
        }
    }

    /// Returns the error that a connection attempt ended with, or nil when it succeeded.
    static func connectionError(_ fd: Int32) throws(IOError) -> IOError? {
        let error = try option(fd, SOL_SOCKET, SO_ERROR)
        return error == 0 ? nil : IOError(errno: error, function: "connect")
    }

    /// Accepts a connection, non-blocking and close-on-exec. Nil: no connection is waiting (any more).
    ///
    /// A client that hung up before it was accepted is reported as an error (`IOError.isOfOneConnection`),
    /// because the next connection may be fine.
    static func accept(_ fd: Int32) throws(IOError) -> FileDescriptor? {
        #if os(Linux)
        let accepted = try perform("accept", on: fd, atMost: acceptTries) {
            Int(mcp_accept4(fd, socketFlags))
        }
        #else
        let accepted = try perform("accept", on: fd, atMost: acceptTries) { Int(sysAccept(fd)) }
        #endif
        guard let accepted else { return nil }
        let descriptor = FileDescriptor(owning: Int32(truncatingIfNeeded: accepted))
        #if !os(Linux)
        do throws(IOError) { try prepareDarwinSocket(descriptor.rawValue) } catch {
            // A socket that its peer has reset in the meantime no longer accepts options.
            throw error.errno == EINVAL ? IOError(errno: ECONNABORTED, function: "accept") : error
        }
        #endif
        return descriptor
    }

    /// The number of times that one `accept` may be interrupted.
    private static let acceptTries = 16

    @inline(__always)
    static func receive(_ fd: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(IOError) -> Int? {
        try perform("recv", on: fd) { unsafe recv(fd, buffer.baseAddress, buffer.count, receiveFlags) }
    }

    /// Sends without raising SIGPIPE and without waiting, whatever the descriptor's flags are.
    @inline(__always)
    static func send(_ fd: Int32, _ bytes: UnsafeRawBufferPointer) throws(IOError) -> Int? {
        try perform("send", on: fd) { unsafe sysSend(fd, bytes.baseAddress, bytes.count, sendFlags) }
    }

    static func shutdownWriting(_ fd: Int32) throws(IOError) {
        try require("shutdown", on: fd) { Int(shutdown(fd, shutdownWrite)) }
    }

    /// Ends both directions, for every process that has it. On Linux, a listening socket is closed to all.
    static func shutdownAll(_ fd: Int32) throws(IOError) {
        try require("shutdown", on: fd) { Int(shutdown(fd, shutdownBoth)) }
    }

    static func setOption(_ fd: Int32, _ level: Int32, _ name: Int32, _ value: Int32) throws(IOError) {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        try require("setsockopt", on: fd) { Int(unsafe setsockopt(fd, level, name, &value, size)) }
    }

    static func option(_ fd: Int32, _ level: Int32, _ name: Int32) throws(IOError) -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        try require("getsockopt", on: fd) { Int(unsafe getsockopt(fd, level, name, &value, &size)) }
        return value
    }

    /// Disables Nagle's algorithm: responses are sent at once instead of waiting for more data.
    static func setNoDelay(_ fd: Int32) throws(IOError) {
        try setOption(fd, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Makes the system notice within a minute that the other side of a TCP connection has silently gone.
    ///
    /// It probes the peer after 30 s without traffic, and drops the connection when data has not been
    /// acknowledged for 60 s.
    static func watchPeer(_ fd: Int32) throws(IOError) {
        try setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1)
        let tcp = Int32(IPPROTO_TCP)
        #if canImport(Darwin)
        try setOption(fd, tcp, TCP_KEEPALIVE, 30)
        try setOption(fd, tcp, TCP_RXT_CONNDROPTIME, 60)
        #else
        try setOption(fd, tcp, TCP_KEEPIDLE, 30)
        try setOption(fd, tcp, TCP_USER_TIMEOUT, 60_000)
        #endif
        try setOption(fd, tcp, TCP_KEEPINTVL, 10)
        try setOption(fd, tcp, TCP_KEEPCNT, 3)
    }

    static func localAddress(_ fd: Int32) throws(IOError) -> SocketAddress? {
        unsafe try address(fd, "getsockname") { unsafe getsockname($0, $1, $2) }
    }

    /// The address of the other end of a connected socket.
    static func peerAddress(_ fd: Int32) throws(IOError) -> SocketAddress? {
        unsafe try address(fd, "getpeername") { unsafe getpeername($0, $1, $2) }
    }

    private static func address(
        _ fd: Int32, _ name: StaticString,
        _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) throws(IOError) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        try require(name, on: fd) {
            unsafe withUnsafeMutablePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Int(unsafe call(fd, $0, &length))
                }
            }
        }
        return SocketAddress(storage: storage)
    }

    /// Returns the user and group of the process at the other end of a unix socket, and its pid where the
    /// system provides it.
    static func peerCredentials(_ fd: Int32) throws(IOError) -> PeerCredentials {
        #if os(Linux)
        var peer = mcp_peer_credentials()
        try require("getsockopt", on: fd) { Int(unsafe mcp_peer_credentials(fd, &peer)) }
        return PeerCredentials(pid: peer.pid, user: peer.uid, group: peer.gid)
        #else
        var user: uid_t = 0
        var group: gid_t = 0
        try require("getpeereid", on: fd) { Int(unsafe getpeereid(fd, &user, &group)) }
        return PeerCredentials(pid: nil, user: user, group: group)
        #endif
    }

    struct PeerCredentials: Sendable, Hashable {
        let pid: Int32?
        let user: UInt32
        let group: UInt32
    }
}

#if os(Linux)
#if canImport(Musl)
private let streamType = SOCK_STREAM
private let socketFlags = SOCK_NONBLOCK | SOCK_CLOEXEC
#else
private var streamType: Int32 { @inline(__always) get { Int32(SOCK_STREAM.rawValue) } }
private var socketFlags: Int32 {
    @inline(__always) get { Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue) }
}
#endif
private var sendFlags: Int32 { @inline(__always) get { Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT) } }
private var receiveFlags: Int32 { @inline(__always) get { Int32(MSG_DONTWAIT) } }
private var shutdownWrite: Int32 { Int32(SHUT_WR) }
private var shutdownBoth: Int32 { Int32(SHUT_RDWR) }
#else
private let streamType = SOCK_STREAM
private let sendFlags = MSG_DONTWAIT
private let receiveFlags = MSG_DONTWAIT
private let shutdownWrite = SHUT_WR
private let shutdownBoth = SHUT_RDWR

private func sysAccept(_ fd: Int32) -> Int32 { accept(fd, nil, nil) }

/// Darwin has neither accept4 nor MSG_NOSIGNAL.
private func prepareDarwinSocket(_ fd: Int32) throws(IOError) {
    try Syscalls.setCloseOnExec(fd)
    try Syscalls.setNonBlocking(fd)
    try Syscalls.setOption(fd, SOL_SOCKET, SO_NOSIGPIPE, 1)
}
#endif

private func sysBind(_ fd: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    unsafe bind(fd, address, length)
}

private func sysListen(_ fd: Int32, _ backlog: Int32) -> Int32 { listen(fd, backlog) }

private func sysConnect(_ fd: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    unsafe connect(fd, address, length)
}

@inline(__always)
private func sysSend(_ fd: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    unsafe send(fd, bytes, count, flags)
}
