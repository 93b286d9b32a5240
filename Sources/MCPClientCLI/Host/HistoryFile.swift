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
    ///
    /// A file that holds something else is left alone, with its permissions.
    init(_ path: String) throws(Failure) {
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
        entries = content.entries
        strangeLines = content.strangeLines
        isBroken = Mutex(content.isBroken)
    }

    /// What is in the file, which is private from then on.
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
            // The half of an entry is one that a full disk left.
            if entries.isEmpty, !bytes.isEmpty, !bytes.starts(with: Array("{\"".utf8)) {
                throw .usage(
                    "\(name) is not a history of calls", details: ["nothing was written to it"],
                    hint: "--history FILE names a file that is not there yet, or one of mcp-client host")
            }
            // A file that was there before may be open to others.
            if fchmod(descriptor, 0o600) != 0 {
                throw .usage("cannot make \(name) private: \(SystemFile.text(errno))")
            }
        }
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
