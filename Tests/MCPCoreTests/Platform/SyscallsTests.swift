import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite(.serialized) struct SyscallsTests {
    @Test func fullPipeReportsWouldBlockAfterAShortWrite() throws {
        let (reader, writer) = try Syscalls.pipe(nonBlocking: true)
        let r = FileDescriptor(owning: reader)
        let w = FileDescriptor(owning: writer)
        let block = [UInt8](repeating: 7, count: 1 << 20)
        let first = try write(w.rawValue, block)
        #expect(first ?? 0 > 0 && first ?? 0 < block.count)
        #expect(try write(w.rawValue, block) == nil)
        #expect(try readOnce(r.rawValue, first ?? 0)?.count == first)
        #expect(try readOnce(r.rawValue) == nil)
    }

    // Fault row 73
    @Test func brokenPipeIsAnErrorAndNoSignal() throws {
        SignalWatch.ignoreBrokenPipes()
        let (reader, writer) = try Syscalls.pipe()
        Syscalls.close(reader)
        let w = FileDescriptor(owning: writer)
        #expect(throws: IOError(errno: EPIPE, function: "write")) { try write(w.rawValue, [1]) }
        let (a, b) = try Syscalls.socketPair()
        Syscalls.close(b)
        let socket = FileDescriptor(owning: a)
        #expect(throws: IOError(errno: EPIPE, function: "send")) {
            try unsafe [UInt8](repeating: 1, count: 1).withUnsafeBytes {
                unsafe try Syscalls.send(socket.rawValue, $0)
            }
        }
    }

    #if DEBUG
    // Fault row 72
    @Test(arguments: [EINTR, EAGAIN, EIO]) func injectedFaultsAreRetriedReportedOrThrown(_ number: Int32)
        async throws
    {
        let (reader, writer) = try Syscalls.pipe()
        let r = FileDescriptor(owning: reader)
        let w = FileDescriptor(owning: writer)
        try writeText(w.rawValue, "abc")
        let calls = Counter()
        let plan: FaultInjection.Plan = { function, fd in
            fd == reader && function == "read" && calls.increment() == 1 ? number : nil
        }
        let fd = r.rawValue
        try await FaultInjection.during(plan) { () throws -> Void in
            switch number {
            case EINTR: #expect(try readOnce(fd) == Array("abc".utf8))
            case EAGAIN: #expect(try readOnce(fd) == nil)
            default:
                #expect(throws: IOError(errno: EIO, function: "read")) { try readOnce(fd) }
                #expect(try readOnce(fd) == Array("abc".utf8))
            }
        }
        #expect(calls.value == (number == EAGAIN ? 1 : 2))
    }
    #endif

    @Test func socketsConnectAcceptAndReportTheirAddresses() throws {
        let loopback = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
        let listener = try Syscalls.streamSocket(loopback.domain)
        try Syscalls.bind(listener.rawValue, to: loopback)
        try Syscalls.listen(listener.rawValue, backlog: 8)
        #expect(throws: NothingThere.self) { _ = try unwrap(try Syscalls.accept(listener.rawValue)) }
        let address = try #require(try Syscalls.localAddress(listener.rawValue))
        #expect(address.port != 0 && address.isLoopback)
        let client = try Syscalls.streamSocket(address.domain)
        if try !Syscalls.connect(client.rawValue, to: address) {
            var entries = [pollfd(fd: client.rawValue, events: Int16(POLLOUT), revents: 0)]
            #expect(try Syscalls.poll(&entries, timeoutMilliseconds: 5_000) == 1)
        }
        #expect(try Syscalls.connectionError(client.rawValue) == nil)
        let server = try unwrap(try Syscalls.accept(listener.rawValue))
        #expect(fcntl(server.rawValue, F_GETFD) & FD_CLOEXEC != 0)
        #expect(try Syscalls.statusFlags(server.rawValue) & O_NONBLOCK != 0)
        try Syscalls.setNoDelay(server.rawValue)
        try Syscalls.watchPeer(server.rawValue)
        #expect(try Syscalls.option(server.rawValue, SOL_SOCKET, SO_KEEPALIVE) != 0)
        #expect(try Syscalls.option(server.rawValue, Int32(IPPROTO_TCP), TCP_KEEPINTVL) == 10)
    }

    @Test func refusedConnectionsAreErrors() throws {
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 1))
        let client = try Syscalls.streamSocket(address.domain)
        do {
            if try !Syscalls.connect(client.rawValue, to: address) {
                var entries = [pollfd(fd: client.rawValue, events: Int16(POLLOUT), revents: 0)]
                #expect(try Syscalls.poll(&entries, timeoutMilliseconds: 5_000) == 1)
                #expect(try Syscalls.connectionError(client.rawValue)?.errno == ECONNREFUSED)
            }
        } catch { #expect(error.errno == ECONNREFUSED) }
    }

    @Test func unixSocketsTellWhoIsThere() throws {
        let directory = TemporaryDirectory()
        let address = try #require(SocketAddress(unixPath: "\(directory.path)/s"))
        let listener = try Syscalls.streamSocket(address.domain)
        try Syscalls.bind(listener.rawValue, to: address)
        try Syscalls.listen(listener.rawValue, backlog: 1)
        let client = try Syscalls.streamSocket(address.domain)
        #expect(try Syscalls.connect(client.rawValue, to: address))
        let server = try unwrap(try Syscalls.accept(listener.rawValue))
        let peer = try Syscalls.peerCredentials(server.rawValue)
        #expect(peer.user == getuid())
        #if os(Linux)
        #expect(peer.pid == getpid())
        #endif
    }

    @Test func pipesAvoidTheStandardDescriptors() throws {
        let (reader, writer) = try Syscalls.pipe()
        #expect(reader >= 3 && writer >= 3)
        Syscalls.close(reader)
        Syscalls.close(writer)
    }

    private func write(_ fd: Int32, _ bytes: [UInt8]) throws(IOError) -> Int? {
        try unsafe bytes.withUnsafeBufferPointer { buffer throws(IOError) -> Int? in
            unsafe try Syscalls.write(fd, UnsafeRawBufferPointer(buffer))
        }
    }
}
