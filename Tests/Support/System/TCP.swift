@testable package import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Sockets that do not block, on the loopback address, for peers that a test writes byte by byte.
package enum TCP {
    private static func loopback(_ port: UInt16) throws -> SocketAddress {
        guard let address = SocketAddress(numeric: "127.0.0.1", port: port) else { throw NothingThere() }
        return address
    }

    package static func listen() throws -> FileDescriptor {
        let listener = try Syscalls.streamSocket(AF_INET)
        try Syscalls.bind(listener.rawValue, to: try loopback(0))
        try Syscalls.listen(listener.rawValue, backlog: 16)
        return listener
    }

    package static func port(of fd: Int32) throws -> UInt16 { try Syscalls.localAddress(fd)?.port ?? 0 }

    package static func accept(_ listener: Int32) throws -> FileDescriptor? { try Syscalls.accept(listener) }

    /// - Parameter wait: returns when the socket can be written.
    package static func connect(
        _ port: UInt16, receiveBuffer: Int32? = nil, _ wait: (Int32) throws -> Void
    ) throws -> FileDescriptor {
        let socket = try Syscalls.streamSocket(AF_INET)
        if let receiveBuffer { try Syscalls.setOption(socket.rawValue, SOL_SOCKET, SO_RCVBUF, receiveBuffer) }
        if try !Syscalls.connect(socket.rawValue, to: try loopback(port)) {
            try wait(socket.rawValue)
            if let error = try Syscalls.connectionError(socket.rawValue) { throw error }
        }
        try Syscalls.setNoDelay(socket.rawValue)
        return socket
    }

    /// How many bytes were taken; nil when none can be now.
    package static func send(_ fd: Int32, _ bytes: ArraySlice<UInt8>) throws(IOError) -> Int? {
        unsafe try bytes.withUnsafeBufferPointer { (bytes) throws(IOError) in
            unsafe try Syscalls.send(fd, UnsafeRawBufferPointer(bytes))
        }
    }

    /// What is there, 256 KiB at most; empty at the end, nil when there is nothing now.
    package static func receive(_ fd: Int32) throws(IOError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 256 << 10)
        let count = try unsafe bytes.withUnsafeMutableBufferPointer { (room) throws(IOError) in
            unsafe try Syscalls.receive(fd, into: UnsafeMutableRawBufferPointer(room))
        }
        return count.map { Array(bytes.prefix($0)) }
    }

    package static func shutdownWriting(_ fd: Int32) throws(IOError) { try Syscalls.shutdownWriting(fd) }
}

extension ChildProcess {
    /// The census does not count it: it lives as long as the tests.
    package static func keepOne() { Census.keep(.childProcess, 1) }
}
