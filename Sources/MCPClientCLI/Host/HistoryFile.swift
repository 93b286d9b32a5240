import MCPApps
import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The history of calls in a file, with one JSON object per line.
///
/// Only its user can read it: arguments and results are private. Secrets are masked before they are written.
/// A file that has grown beyond `maxBytes` is reduced to the entries that a host keeps.
final class HistoryFile: Sendable {
    /// The size from which a file is reduced: 16 MiB.
    static let maxBytes = 16 << 20
    /// The size of the entries that are left then: 8 MiB. The last entry stays, whatever its size.
    static let maxKeptBytes = 8 << 20

    let entries: [HistoryEntry]
    /// The number of lines that are not entries, such as half an entry left by a full disk. They are skipped.
    let strangeLines: Int
    private let descriptor: Int32
    private let mask: MessageMask
    /// Whether the file ends within a line, which must not swallow the next one.
    private let isBroken: Mutex<Bool>

    /// Reads the existing entries and opens the file for appending.
    ///
    /// A file that contains something else is left unchanged, including its permissions.
    /// - Parameter secrets: texts that no entry may contain.
    init(_ path: String, secrets: [String] = []) throws(Failure) {
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK
        let descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw .usage("cannot open \(inlineText(path)): \(SystemFile.text(errno))")
        }
        let content: Content
        do throws(Failure) {
            content = try Content(descriptor, inlineText(path))
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        mask = MessageMask(secrets)
        entries = content.entries
        strangeLines = content.strangeLines
        isBroken = Mutex(content.isBroken)
    }

    /// The content of the file, which is private once it has been read.
    private struct Content {
        let entries: [HistoryEntry]
        let strangeLines: Int
        let isBroken: Bool

        init(_ descriptor: Int32, _ name: String) throws(Failure) {
            guard SystemFile.isRegular(descriptor) else {
                throw .usage("cannot keep a history in \(name): it is not a regular file")
            }
            let bytes = try SystemFile.readAll(descriptor, name: name)
            let lines = bytes.split(separator: UInt8(ascii: "\n"))
            entries = lines.compactMap { line in
                (try? JSONValue(parsing: Array(line))).flatMap(HistoryEntry.init(json:))
            }
            strangeLines = lines.count - entries.count
            isBroken = !bytes.isEmpty && bytes.last != UInt8(ascii: "\n")
            if entries.isEmpty, !bytes.isEmpty, !(isBroken && Self.isHalfAnEntry(bytes)) {
                throw .usage(
                    "\(name) is not a history of calls", details: ["nothing was written to it"],
                    hint: "--history FILE must name a new file, or a history written by mcp-client host")
            }
            // An existing file may be accessible to others.
            if fchmod(descriptor, 0o600) != 0 {
                throw .usage("cannot make \(name) private: \(SystemFile.text(errno))")
            }
        }

        /// Whether this may be the beginning of the first entry, as a full disk leaves it.
        private static func isHalfAnEntry(_ bytes: [UInt8]) -> Bool {
            let start = Array("{\"id\":\"".utf8)
            guard bytes.starts(with: start) || start.starts(with: bytes) else { return false }
            return !bytes.contains(UInt8(ascii: "\n")) && (try? JSONValue(parsing: bytes)) == nil
        }
    }

    /// Appends an entry in one write, so that the lines of two programs do not mix.
    ///
    /// - Returns: false when the entry could not be written.
    func append(_ entry: HistoryEntry) -> Bool {
        let json = mask.masked(.object(entry.json)).serialized()
        return isBroken.withLock { isBroken in
            // Without locks, as on some network file systems, one program alone has the file.
            _ = flock(descriptor, LOCK_EX)
            defer { _ = flock(descriptor, LOCK_UN) }
            // A failed write may have left half a line.
            let line = "\(isBroken ? "\n" : "")\(json)\n"
            isBroken = SystemFile.writeAll(descriptor, Array(line.utf8)) != nil
            if !isBroken, lseek(descriptor, 0, SEEK_END) > Self.maxBytes { reduce() }
            return !isBroken
        }
    }

    /// Moves the entries that are kept to the beginning of the file, and ends it there.
    ///
    /// An entry is never overwritten before it has been moved, so that one that is interrupted loses none.
    private func reduce() {
        guard lseek(descriptor, 0, SEEK_SET) == 0,
            let bytes = try? SystemFile.readAll(descriptor, name: "the history")
        else { return }
        let entries = bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            (try? JSONValue(parsing: Array(line))).flatMap(HistoryEntry.init(json:))
        }
        var size = 0
        var lines: [String] = []
        for entry in AppHost.bounded(entries).reversed() {
            let line = JSONValue.object(entry.json).serialized() + "\n"
            size += line.utf8.count
            if size > Self.maxKeptBytes, !lines.isEmpty { break }
            lines.append(line)
        }
        let kept = Array(lines.reversed().joined().utf8)
        let flags = fcntl(descriptor, F_GETFL)
        // Otherwise every write is at the end.
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags & ~O_APPEND) == 0 else { return }
        defer { _ = fcntl(descriptor, F_SETFL, flags) }
        guard lseek(descriptor, 0, SEEK_SET) == 0, SystemFile.writeAll(descriptor, kept) == nil else {
            return
        }
        _ = ftruncate(descriptor, off_t(kept.count))
    }

    deinit { close(descriptor) }
}
