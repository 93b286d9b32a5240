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
    }

    private struct Contents: Codable {
        var version: Int
        var tokens: [StaticToken]
    }

    private static let version = 1

    let path: String

    init(_ path: String) { self.path = path }

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
        do { text = try ConfigFile.text(at: target, shownAs: path, isPrivate: true) } catch {
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
        do { try PrivateDirectory.make(directory) } catch { throw Failure(text: error.text) }
        let lock = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw failure("open \(directory)") }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure("lock \(directory)") }
        }
        var records = try read()
        let before = records
        let result = try body(&records)
        if records == before { return result }
        let contents = Contents(version: Self.version, tokens: records)
        do {
            let text = try JSONValue(encoding: contents).serialized() + "\n"
            try Files.replace(path, with: Array(text.utf8), mode: 0o600, isExact: true)
        } catch {
            throw Failure(text: "cannot write \(path): \(error)")
        }
        return result
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

    private func failure(_ what: String) -> Failure {
        Failure(text: "cannot \(what): \(IOError(errno: errno, function: "open").reason)")
    }
}
