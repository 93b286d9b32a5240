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

/// What stands at the path of a socket is never lost.
@Suite struct UnixSocketPathTests {
    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode : nil
    }

    /// A socket file; with a descriptor that listens, or that nobody has any more.
    private func makeSocket(_ path: String, type: Int32 = 1, listens: Bool) throws -> FileDescriptor? {
        let address = try #require(SocketAddress(unixPath: path))
        let fd = FileDescriptor(owning: socket(AF_UNIX, type, 0))
        try Syscalls.bind(fd.rawValue, to: address)
        if type == 1, listens { try Syscalls.listen(fd.rawValue, backlog: 1) }
        if listens { return fd }
        return nil
    }

    @Test(arguments: ["file", "directory", "link", "dangling", "fifo", "listening", "datagram"])
    func isRefusedAndLeftAlone(_ kind: String) throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/s"
        var open: FileDescriptor?
        switch kind {
        case "file": try directory.write("s", "precious")
        case "directory": directory.makeDirectory("s")
        case "link":
            open = try makeSocket("\(directory.path)/real", listens: false)
            directory.link("s", to: "real")
        case "dangling": directory.link("s", to: "nothing")
        case "fifo": try #require(unsafe mkfifo(path, 0o600) == 0)
        case "datagram": open = try makeSocket(path, type: 2, listens: true)
        default: open = try makeSocket(path, listens: true)
        }
        let before = mode(path)
        #expect(throws: ListenError.self) {
            _ = try ListenSocket.unix(path: path, mode: 0o600, group: nil)
        }
        #expect(before != nil && mode(path) == before)
        if kind == "file" { #expect(text(try Files.read(path, maxBytes: 100)) == "precious") }
        if kind == "link" { #expect(mode("\(directory.path)/real") != nil) }
        #expect(mode("\(path).lock") == nil, "the lock of a refused start stays")
        _ = open.take()
    }

    @Test func aStaleSocketIsReplacedAndNothingStays() throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/s"
        _ = try makeSocket(path, listens: false)
        let mask = umask(0o022)
        umask(mask)
        let socket = try ListenSocket.unix(path: path, mode: 0o660, group: nil)
        #expect(mode(path).map { $0 & 0o777 } == 0o660)
        #expect(throws: ListenError.self) {
            _ = try ListenSocket.unix(path: path, mode: 0o600, group: nil)
        }
        #expect(mode(path).map { $0 & 0o777 } == 0o660)
        socket.withdraw()
        #expect(mode(path) == nil && mode("\(path).lock") == nil)
    }

    @Test func whatReplacedTheSocketStaysAtTheEnd() throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/s"
        let socket = try ListenSocket.unix(path: path, mode: 0o600, group: nil)
        try #require(unsafe unlink(path) == 0)
        let other = try makeSocket(path, listens: true)
        socket.withdraw()
        #expect(mode(path) != nil)
        _ = consume other
    }

    @Test func aLockWithContentsIsNobodysToRemove() throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/s"
        try directory.write("s.lock", "mine")
        let socket = try ListenSocket.unix(path: path, mode: 0o600, group: nil)
        socket.withdraw()
        #expect(mode(path) == nil)
        #expect(text(try Files.read("\(path).lock", maxBytes: 100)) == "mine")
    }

    @Test func messagesNameTheFileAndTheRemedy() throws {
        let directory = TemporaryDirectory()
        #expect {
            _ = try ListenSocket.unix(path: "\(directory.path)/no/s", mode: 0o600, group: nil)
        } throws: { "\($0)".contains("its directory does not exist; create it first") }
        directory.link("s.lock", to: "x")
        #expect {
            _ = try ListenSocket.unix(path: "\(directory.path)/s", mode: 0o600, group: nil)
        } throws: { "\($0)".contains("s.lock is a symbolic link; remove it or choose another path") }
    }
}
