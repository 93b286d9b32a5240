import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A lock on a file that is read, changed and replaced, which several processes may do at the same time.
///
/// The lock is a file in the directory for what this software remembers, named after the path of the other
/// one: beside it, it would be left in projects. Only its owner can open it; a directory, or the file itself,
/// could be locked by every user who can read it.
struct ChangeLock {
    /// The longest time to wait for another process.
    static let limit: Duration = .seconds(5)
    /// The time between two attempts, in microseconds.
    private static let interval: UInt32 = 10_000

    private let path: String
    private let shown: String
    private let file: String?

    /// Creates the lock of a file, which need not exist.
    ///
    /// - Parameters:
    ///   - shown: the name of the file in errors.
    ///   - variable: returns the variables that name the directory; without one, nothing is locked.
    init(_ path: String, shownAs shown: String, _ variable: (String) -> String?) {
        self.path = path
        self.shown = shown
        file = PrivateDirectory.statePath(variable).map { state in
            "\(state)/locks/\(Hex.encode(SHA256.hash(Self.resolved(path).utf8).bytes))"
        }
    }

    /// Runs `body` while no other process holds the lock; waits at most 5 s for it.
    func hold<Result>(
        atMost limit: Duration = Self.limit, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let descriptor = try open() else { return try body() }
        defer { close(descriptor) }
        let end = ContinuousClock.now + limit
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EWOULDBLOCK, EINTR: break
            // A file system without locks.
            case ENOLCK, ENOSYS, EOPNOTSUPP: return try body()
            default: throw refusal("cannot be locked: \(SystemFile.text(errno))")
            }
            if Task.isCancelled { throw StopReason.interrupted }
            guard ContinuousClock.now < end else {
                throw refusal(
                    "is being changed by another process; nothing was changed",
                    hint: "run the command again when the other one has ended")
            }
            usleep(Self.interval)
        }
        return try body()
    }

    /// Opens the lock file, or returns nil if its directory does not exist.
    private func open() throws(Failure) -> Int32? {
        guard let file else { return nil }
        let directory = "/" + Files.components(file).dropLast().joined(separator: "/")
        SystemFile.makeDirectories(directory)
        #if canImport(Darwin)
        let descriptor = unsafe Darwin.open(file, Self.flags, 0o600)
        #elseif canImport(Musl)
        let descriptor = unsafe Musl.open(file, Self.flags, 0o600)
        #else
        let descriptor = unsafe Glibc.open(file, Self.flags, 0o600)
        #endif
        guard descriptor >= 0 else {
            // What cannot be locked can be changed: the directory may be read-only where a build runs.
            if [ENOENT, ENOTDIR, EACCES, EPERM, EROFS, ENOSPC, EDQUOT].contains(errno) { return nil }
            throw refusal("cannot be locked: \(inlineText(file)): \(SystemFile.text(errno))")
        }
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG,
            info.st_uid == geteuid(), info.st_mode & 0o077 == 0
        else {
            close(descriptor)
            throw refusal(
                "cannot be locked: other users can use \(inlineText(file))", hint: "remove that file")
        }
        return descriptor
    }

    private static let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK

    private func refusal(_ text: String, hint: String? = nil) -> Failure {
        Failure(code: .unreachable, kind: .store, message: "\(shown) \(text)", hint: hint)
    }

    /// Returns the path without links, so that one file has one lock, also before its directories exist.
    private static func resolved(_ path: String) -> String {
        if let whole = withoutLinks(path) { return whole }
        var folder = path[...]
        while let slash = folder.utf8.lastIndex(of: UInt8(ascii: "/")) {
            folder = path[..<slash]
            if folder.isEmpty { return path }
            if let real = withoutLinks(String(folder)) { return real + path[slash...] }
        }
        return path
    }

    private static func withoutLinks(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}
