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
        guard let lock = try open() else { return try body() }
        try take(lock, atMost: limit)
        let outcome = Swift.Result { () throws(Failure) in try body() }
        // Closing the file releases its lock.
        _ = consume lock
        return try outcome.get()
    }

    private func take(_ lock: borrowing ProcessLock, atMost limit: Duration) throws(Failure) {
        do throws(IOError) {
            if try lock.take(within: limit, while: { !Task.isCancelled }) { return }
        } catch {
            // A file system without locks.
            if [ENOLCK, ENOSYS, EOPNOTSUPP].contains(error.errno) { return }
            throw refusal("cannot be locked: \(error.reason)")
        }
        if Task.isCancelled { throw StopReason.interrupted }
        throw refusal(
            "is being changed by another process; nothing was changed",
            hint: "run the command again when the other one has ended")
    }

    /// Opens the lock file, or returns nil if its directory does not exist.
    private func open() throws(Failure) -> ProcessLock? {
        guard let file else { return nil }
        let directory = "/" + Files.components(file).dropLast().joined(separator: "/")
        SystemFile.makeDirectories(directory)
        do throws(ProcessLock.Failure) { return try ProcessLock(file) } catch {
            switch error {
            case .unusable(let what):
                throw refusal(
                    "cannot be locked: \(inlineText(file)) \(what); nothing was changed",
                    hint: "remove that file")
            case .failed(let error):
                // What cannot be locked can be changed: the directory may be read-only where a build runs.
                if Self.isMissing.contains(error.errno) { return nil }
                throw refusal("cannot be locked: \(inlineText(file)): \(error.reason)")
            }
        }
    }

    /// The errors of a directory in which no file can be made.
    private static let isMissing = [ENOENT, ENOTDIR, EACCES, EPERM, EROFS, ENOSPC, EDQUOT]

    private func refusal(_ text: String, hint: String? = nil) -> Failure {
        Failure(code: .unreachable, kind: .store, message: "\(shown) \(text)", hint: hint)
    }

    /// Returns the path without links, so that one file has one lock, also before its directories exist.
    private static func resolved(_ path: String) -> String {
        if let whole = Files.resolved(path) { return whole }
        var folder = path[...]
        while let slash = folder.utf8.lastIndex(of: UInt8(ascii: "/")) {
            folder = path[..<slash]
            if folder.isEmpty { return path }
            if let real = Files.resolved(String(folder)) { return real + path[slash...] }
        }
        return path
    }
}
