import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The lock under which the tokens change.
@Suite(.timeLimit(.minutes(5))) struct TokenFileTests {
    private let directory: TemporaryDirectory
    private let file: TokenFile

    init() throws {
        directory = try TemporaryDirectory()
        file = TokenFile("\(directory.path)/tokens.json")
    }

    private func change() throws(TokenFile.Failure) { try file.update { (_) throws(TokenFile.Failure) in } }

    /// Whoever may read the directory can lock it.
    @Test(.ownThreads) func aLockOfTheDirectoryStopsNobody() throws {
        let other = unsafe open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(other) }
        #expect(flock(other, LOCK_EX) == 0)
        try change()
        let lock = TokenFile.lockPath(of: file.path)
        #expect(try Files.info(lock).permissions == 0o600)
    }

    @Test(.ownThreads) func aLockThatIsHeld() throws {
        try change()
        let lock = TokenFile.lockPath(of: file.path)
        let other = unsafe open(lock, O_RDWR | O_CLOEXEC)
        #expect(flock(other, LOCK_EX) == 0)
        let failure = #expect(throws: TokenFile.Failure.self) { try change() }
        #expect(
            failure?.text
                == "\(lock) is locked by another process; nothing was changed: wait for it, or end it")
        close(other)
        try change()
    }

    /// Nor is a file that has another name, whose mode and owner stay.
    @Test(.ownThreads) func aFileWithTwoNamesForALock() throws {
        try directory.write("other", [], mode: 0o644)
        let lock = TokenFile.lockPath(of: file.path)
        #expect(unsafe link("\(directory.path)/other", lock) == 0)
        #expect(throws: TokenFile.Failure.self) { try change() }
        #expect(try Files.info("\(directory.path)/other").permissions == 0o644)
    }

    #if os(Linux)
    /// A directory that cannot be made has to be made by somebody else.
    @Test func aDirectoryThatCannotBeMade() {
        let file = TokenFile("/proc/none/tokens.json")
        let failure = #expect(throws: TokenFile.Failure.self) {
            try file.update { (_) throws(TokenFile.Failure) in }
        }
        #expect(failure?.text.hasPrefix("cannot create the directory /proc/none: ") == true)
        #expect(failure?.hint?.hasSuffix(": install -d -o USER -m 700 /proc/none") == true)
    }
    #endif

    /// A link in the place of the lock is not followed.
    @Test(.ownThreads) func aLinkForALock() throws {
        let lock = TokenFile.lockPath(of: file.path)
        #expect(unsafe symlink("\(directory.path)/elsewhere", lock) == 0)
        #expect(throws: TokenFile.Failure.self) { try change() }
        #expect(throws: IOError.self) { try Files.info("\(directory.path)/elsewhere") }
    }
}
