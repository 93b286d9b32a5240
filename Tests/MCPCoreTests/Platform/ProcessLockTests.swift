import MCPCore
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A lock file is its owner's alone, and what stands in its place stays as it is.
@Suite struct ProcessLockTests {
    private let directory = TemporaryDirectory()
    private var path: String { directory.path + "/lock" }

    private func problem(_ path: String) -> String? {
        do throws(ProcessLock.Failure) {
            _ = try ProcessLock(path)
            return nil
        } catch {
            if case .unusable(let what) = error { return what }
            return "\(error)"
        }
    }

    @Test func oneAtATime() throws {
        let first = try ProcessLock(path)
        let second = try ProcessLock(path)
        var taken = [try first.take(), try second.take()]
        taken.append(try second.take(within: .seconds(600), while: { false }))
        taken.append(try second.take(within: .zero))
        _ = consume first
        taken.append(try second.take(within: .seconds(60)))
        #expect(taken == [true, false, false, false, true])
        let info = try Files.info(path)
        #expect(info.permissions == 0o600 && info.size == 0)
    }

    /// Neither the target of a link, nor another name of a file, nor a file that others can open.
    @Test func whatIsNoLockStays() throws {
        try directory.write("mine", "text")
        directory.link("lock", to: "mine")
        #expect(problem(path) == "is a symbolic link")
        directory.link("dangling", to: "nothing")
        #expect(problem(directory.path + "/dangling") == "is a symbolic link")
        #expect(throws: IOError.self) { try Files.info(directory.path + "/nothing") }
        try #require(unsafe link(directory.path + "/mine", directory.path + "/name") == 0)
        #expect(problem(directory.path + "/name") == "has another name as well")
        try directory.write("open", "")
        try #require(unsafe chmod(directory.path + "/open", 0o640) == 0)
        #expect(problem(directory.path + "/open") == "can be used by other users (mode 640)")
        #expect(try Files.info(directory.path + "/open").permissions == 0o640)
        try #require(unsafe mkfifo(directory.path + "/fifo", 0o600) == 0)
        #expect(problem(directory.path + "/fifo") == "is not a regular file")
        #expect(text(try Files.read(directory.path + "/mine", maxBytes: 100)) == "text")
    }

    /// The owner of the directory can replace the file, and any other user cannot be trusted with it.
    @Test(.enabled(if: geteuid() == 0, "only root can give files away")) func theOwner() throws {
        let (user, other): (uid_t, uid_t) = (12_345, 12_346)
        _ = try ProcessLock(path)
        try #require(unsafe chown(path, user, user) == 0)
        #expect(problem(path) == "belongs to another user (12345)")
        try #require(unsafe chown(directory.path, other, other) == 0)
        #expect(problem(path) == "belongs to another user (12345)")
        try #require(unsafe chown(directory.path, user, user) == 0)
        #expect(problem(path) == nil)
    }
}
