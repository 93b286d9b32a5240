import TestSupport
import Testing

@testable import MCPCore

@Suite struct ListenSocketTests {
    #if os(Linux)
    /// A program that is being started has every descriptor until its file is loaded.
    @Test func aPortIsFreeAlthoughAnotherProcessHasTheSocket() throws {
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
        var socket: ListenSocket? = try ListenSocket.tcp(address)
        let number = try #require(socket?.descriptor.rawValue)
        let port = try #require(try Syscalls.localAddress(number)?.port)
        let other = FileDescriptor(owning: try Syscalls.duplicate(number, atLeast: 3))
        let same = try #require(SocketAddress(numeric: "127.0.0.1", port: port))
        #expect(throws: ListenError.self) { _ = try ListenSocket.tcp(same) }
        socket = nil
        let next = try ListenSocket.tcp(same)
        #expect(try Syscalls.localAddress(next.descriptor.rawValue)?.port == port)
        #expect(other.rawValue != number)
    }
    #endif

    /// What a service manager has passed stays its own.
    @Test func anInheritedSocketGoesOnListening() throws {
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
        let own = try ListenSocket.tcp(address)
        let port = try #require(try Syscalls.localAddress(own.descriptor.rawValue)?.port)
        var passed: ListenSocket? = try ListenSocket.inherited(own.descriptor.rawValue)
        #expect(passed?.isInherited == true)
        passed = nil
        let client = try #require(BlockingSocket.connect(port, waitingAtMost: 10))
        _ = FileDescriptor(owning: client)
    }
}
