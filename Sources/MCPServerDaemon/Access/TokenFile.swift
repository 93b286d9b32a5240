import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The file with the records of the static tokens. It holds digests and no tokens.
struct TokenFile {
    /// The reason why the file cannot be used.
    struct Failure: Error, Hashable {
        var text: String
        /// What to do about it.
        var hint: String?
    }

    private struct Contents: Codable {
        var version: Int
        var tokens: [StaticToken]
    }

    private static let version = 1

    let path: String
    /// Whether root may read and change the file of another user, which keeps its owner.
    let isInspected: Bool

    init(_ path: String, isInspected: Bool = false) {
        self.path = path
        self.isInspected = isInspected
    }

    /// Whether there is a file, which `path` may only lead to.
    var exists: Bool { (try? Files.info(path, followsLinks: true)) != nil }

    /// The directories of the file that do not exist, which `update` makes; each contains the next one.
    var missingDirectories: [String] {
        guard let path = try? target() else { return [] }
        var (directory, missing) = ("", [String]())
        for name in Paths.components(Paths.parent(of: path)) {
            directory += "/\(name)"
            if Paths.directoryProblem(directory) == Paths.isMissing { missing.append(directory) }
        }
        return missing
    }

    /// Returns the records; none if there is no file yet.
    func read() throws(Failure) -> [StaticToken] {
        do {
            _ = try Files.info(path)
        } catch {
            if error.errno == ENOENT { return [] }
            throw Failure(text: "cannot access \(path): \(error)")
        }
        let text: String
        let target = try target()
        do throws(ConfigFileError) {
            text = try ConfigFile.text(
                at: target, shownAs: path, isPrivate: true, ofAnyUser: isInspected)
        } catch {
            throw Failure(text: error.text)
        }
        guard let json = try? JSONValue(parsing: text),
            let contents = try? RawJSON(json).decode(Contents.self)
        else {
            throw Failure(
                text: "\(path) is damaged; nothing was changed: restore it, or remove it and make new tokens")
        }
        guard contents.version == Self.version else {
            throw Failure(
                text: "\(path) has the version \(contents.version), which this program does not know; "
                    + "nothing was changed")
        }
        do { _ = try StaticTokens(contents.tokens) } catch {
            throw Failure(text: "\(path): \(error)")
        }
        return contents.tokens
    }

    /// Changes the records. Only one process at a time does so, and readers see the old file or the new one.
    func update<R>(_ body: (inout [StaticToken]) throws(Failure) -> R) throws(Failure) -> R {
        let path = try target()
        let directory = Paths.parent(of: path)
        do {
            try PrivateDirectory.make(directory)
        } catch {
            let isMissing = Paths.directoryProblem(directory) == Paths.isMissing
            let hint =
                "as root, make it for the user that runs the server: install -d -o USER -m 700 \(directory)"
            throw Failure(text: error.text, hint: isMissing ? hint : nil)
        }
        let lock = try openLock(of: path)
        try take(lock, of: path)
        let outcome = Result { () throws(Failure) in try change(path, body) }
        // Closing the file releases its lock.
        _ = consume lock
        return try outcome.get()
    }

    private func change<R>(
        _ path: String, _ body: (inout [StaticToken]) throws(Failure) -> R
    ) throws(Failure) -> R {
        var records = try read()
        let before = records
        let result = try body(&records)
        if records == before { return result }
        let contents = Contents(version: Self.version, tokens: records)
        do {
            let text = try JSONValue(encoding: contents).serialized() + "\n"
            try replace(path, with: Array(text.utf8))
        } catch {
            throw Failure(text: "cannot write \(path): \(error)")
        }
        return result
    }

    /// The longest time that another process may hold the lock: a leaked token must not stay valid because
    /// somebody holds it for ever.
    static let lockTimeout = Duration.seconds(5)

    /// Returns the path of the lock: everybody who can read the directory could lock that.
    static func lockPath(of path: String) -> String { path + ".lock" }

    private func openLock(of path: String) throws(Failure) -> ProcessLock {
        let lockPath = Self.lockPath(of: path)
        do throws(ProcessLock.Failure) {
            let lock = try ProcessLock(lockPath)
            var parent = stat()
            // Root may make the file for a server that is not root's.
            if geteuid() == 0, unsafe stat(Paths.parent(of: path), &parent) == 0 {
                try? lock.give(to: parent.st_uid, group: parent.st_gid)
            }
            return lock
        } catch {
            switch error {
            case .unusable(let what):
                throw Failure(text: "\(lockPath) \(what); nothing was changed: remove it")
            case .failed(let error):
                throw Failure(text: "cannot open \(lockPath): \(error.reason); nothing was changed")
            }
        }
    }

    private func take(_ lock: borrowing ProcessLock, of path: String) throws(Failure) {
        let lockPath = Self.lockPath(of: path)
        let isTaken: Bool
        do throws(IOError) { isTaken = try lock.take(within: Self.lockTimeout) } catch {
            throw Failure(text: "cannot lock \(lockPath): \(error.reason); nothing was changed")
        }
        guard isTaken else {
            throw Failure(
                text: "\(lockPath) is locked by another process; nothing was changed: "
                    + "wait for it, or end it")
        }
    }

    /// Replaces the file, which keeps its owner. Root makes a new one for the owner of the directory: it is
    /// for a server, which need not be root's.
    private func replace(_ path: String, with bytes: [UInt8]) throws(IOError) {
        guard geteuid() == 0 else {
            return try Files.replace(path, with: bytes, mode: 0o600, isExact: true)
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 || stat(Paths.parent(of: path), &status) == 0 else {
            throw IOError("stat")
        }
        // A file of root has its owner before it has its place: in a directory of another user, a name could
        // lead elsewhere at any time.
        let made = "\(path).\(Hex.encode(SystemRandom().bytes(8))).new"
        let file = unsafe open(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw IOError("open") }
        defer { close(file) }
        let isDone = unsafe bytes.withUnsafeBytes { bytes in
            var rest = unsafe bytes[...]
            while unsafe !rest.isEmpty {
                let count = unsafe write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                unsafe rest = rest.dropFirst(count)
            }
            return true
        }
        guard isDone, fchmod(file, 0o600) == 0, fchown(file, status.st_uid, status.st_gid) == 0,
            fsync(file) == 0, unsafe rename(made, path) == 0
        else {
            let error = IOError("write")
            unsafe unlink(made)
            throw error
        }
    }

    /// Returns the path of the file itself, which a symbolic link may stand for: the link stays as it is.
    func target() throws(Failure) -> String {
        guard let info = try? Files.info(path), info.kind == .symlink else { return path }
        guard let resolved = unsafe realpath(path, nil) else {
            throw Failure(
                text: "\(path) is a symbolic link to a file that cannot be found; nothing was changed: "
                    + "create the file with mode 600, or remove the link")
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}
