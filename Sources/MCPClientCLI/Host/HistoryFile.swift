import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The history of calls in a file, one JSON object per line. Only its user can read it: arguments and results
/// are nobody else's business.
final class HistoryFile: Sendable {
    let entries: [HistoryEntry]
    /// Lines that are no entries, such as the half of one that a full disk left. They are passed over.
    let strangeLines: Int
    private let descriptor: Int32
    /// The file ends within a line, which must not swallow the next.
    private let isBroken: Mutex<Bool>

    /// Reads what is there and opens the file to append to.
    init(_ path: String) throws(Failure) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .usage("cannot open \(inlineText(path)): \(SystemFile.text(errno))")
        }
        // A file that was there before may be open to others.
        guard fchmod(descriptor, 0o600) == 0 else {
            let reason = SystemFile.text(errno)
            close(descriptor)
            throw .usage("cannot make \(inlineText(path)) private: \(reason)")
        }
        self.descriptor = descriptor
        let bytes = try SystemFile.readAll(descriptor, name: inlineText(path))
        isBroken = Mutex(!bytes.isEmpty && bytes.last != UInt8(ascii: "\n"))
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        entries = lines.compactMap { line in
            (try? JSONValue(parsing: Array(line))).flatMap(HistoryEntry.init(json:))
        }
        strangeLines = lines.count - entries.count
    }

    /// Adds an entry in one write, so that lines of two programs do not mix. False: it could not be kept.
    func append(_ entry: HistoryEntry) -> Bool {
        isBroken.withLock { isBroken in
            let line = "\(isBroken ? "\n" : "")\(JSONValue.object(entry.json).serialized())\n"
            // What failed may have left the half of a line.
            isBroken = SystemFile.writeAll(descriptor, Array(line.utf8)) != nil
            return !isBroken
        }
    }

    deinit { close(descriptor) }
}
