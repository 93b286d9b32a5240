import TestSupport
import Testing

@testable import MCPCore

/// The sockets that listeners accept on.
@Suite struct ListenSocketTests {
    private func address(port: UInt16 = 0) throws -> SocketAddress {
        try #require(SocketAddress(numeric: "127.0.0.1", port: port))
    }

    #if os(Linux)
    /// A program that is being started has every descriptor until its file is loaded.
    @Test func aPortIsFreeAlthoughAnotherProcessHasTheSocket() throws {
        let other = FileDescriptor(owning: try duplicateOfClosed())
        let port = try TCP.port(of: other.rawValue)
        let next = try ListenSocket.tcp(address(port: port))
        let number = next.descriptor.rawValue
        #expect(try TCP.port(of: number) == port)
    }

    /// Returns the duplicate of a socket whose port was taken as long as it was open.
    private func duplicateOfClosed() throws -> Int32 {
        let socket = try ListenSocket.tcp(address())
        let same = try address(port: TCP.port(of: socket.descriptor.rawValue))
        #expect(throws: ListenError.self) { _ = try ListenSocket.tcp(same) }
        return try Syscalls.duplicate(socket.descriptor.rawValue, atLeast: 3)
    }
    #endif

    /// What a service manager has passed stays its own.
    @Test func anInheritedSocketGoesOnListening() throws {
        let own = try ListenSocket.tcp(address())
        let number = own.descriptor.rawValue
        try useAndClose(ListenSocket.inherited(number))
        let client = BlockingSocket.connect(try TCP.port(of: number), waitingAtMost: 10)
        _ = FileDescriptor(owning: try #require(client))
    }

    private func useAndClose(_ socket: consuming ListenSocket) throws {
        let isInherited = socket.isInherited
        #expect(isInherited)
    }
}
