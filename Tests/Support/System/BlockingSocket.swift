@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Sockets on the loopback address that block, for peers with a thread of their own. Every wait ends.
package enum BlockingSocket {
    /// A listener on a port of its own, which stays free after its end, or on a unix socket, whose port is 0.
    package static func listen(unixPath: String? = nil) throws -> (descriptor: Int32, port: UInt16) {
        let wanted =
            try unixPath.map { SocketAddress(unixPath: $0) }
            ?? SocketAddress(numeric: "127.0.0.1", port: freePort())
        guard let address = wanted else { throw NothingThere() }
        let socket = try Syscalls.streamSocket(address.domain)
        try Syscalls.setOption(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, 1)
        try Syscalls.bind(socket.rawValue, to: address)
        try Syscalls.listen(socket.rawValue, backlog: 64)
        let port = try Syscalls.localAddress(socket.rawValue)?.port ?? 0
        makeBlocking(socket.rawValue)
        return (socket.release(), port)
    }

    /// The next connection of a listener; nil when it was shut down.
    ///
    /// - Parameter seconds: the longest wait on the connection; nil for none.
    package static func accept(_ listener: Int32, waitingAtMost seconds: Int?) -> Int32? {
        var connection = acceptAny(listener)
        // A signal, or a client that left before it was accepted, ends no listener.
        while connection < 0, [EINTR, ECONNABORTED].contains(errno) { connection = acceptAny(listener) }
        guard connection >= 0 else { return nil }
        if let seconds { limitWaits(connection, to: seconds) }
        return connection
    }

    /// A connection to a port; nil when nobody listens there.
    package static func connect(_ port: UInt16, waitingAtMost seconds: Int) -> Int32? {
        guard let address = SocketAddress(numeric: "127.0.0.1", port: port),
            let socket = try? Syscalls.streamSocket(address.domain)
        else { return nil }
        makeBlocking(socket.rawValue)
        guard (try? Syscalls.connect(socket.rawValue, to: address)) != nil else { return nil }
        limitWaits(socket.rawValue, to: seconds)
        return socket.release()
    }

    /// Sends everything; false when the other side takes no more.
    package static func send(_ descriptor: Int32, _ bytes: some Sequence<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let sent = uninterrupted { unsafe rest.withUnsafeBytes { unsafe sendSome(descriptor, $0) } }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// What comes next, 64 KiB at most: empty at the end, nil after an error or the longest wait.
    package static func receive(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = uninterrupted {
            unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        }
        return count < 0 ? nil : Array(buffer[..<count])
    }

    /// Ends both directions, which wakes whoever waits for the socket.
    package static func shutDown(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Waits until the system of the other side has heard of the end, which may take a while on a busy machine.
    package static func waitUntilHeard(_ descriptor: Int32) {
        #if os(Linux)
        let (tcpInfo, unacknowledged): (Int32, UInt8) = (11, 4)
        for _ in 0 ..< 10_000 {
            // The information begins with the state; FIN-WAIT-1 lasts until the end is acknowledged.
            var state: UInt8 = 0
            var length: socklen_t = 1
            let result = unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), tcpInfo, &state, &length)
            if result != 0 || state != unacknowledged { return }
            usleep(1_000)
        }
        #endif
    }

    /// Closes the descriptor, whose number may be in use again at once.
    package static func close(_ descriptor: Int32) { Syscalls.close(descriptor) }

    private static func makeBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    }

    private static func limitWaits(_ descriptor: Int32, to seconds: Int) {
        var wait = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, option, &wait, socklen_t(MemoryLayout<timeval>.size))
        }
        try? Syscalls.setNoDelay(descriptor)
    }
}

// Inside the type their own names mean its members.
private func acceptAny(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }

private func sendSome(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
    unsafe send(descriptor, bytes.baseAddress, bytes.count, 0)
    #else
    unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
}
