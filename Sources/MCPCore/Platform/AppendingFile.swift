#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A file that lines are appended to, and that others may rename, remove or truncate in the meantime (log
/// rotation).
///
/// Not safe to use from several threads at once.
package final class AppendingFile {
    private let counted = Counted(.appendingFile)

    private struct Identity: Equatable, Sendable {
        let device: UInt64
        let number: UInt64

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    package let path: String
    private var descriptor: FileDescriptor
    private var identity: Identity
    /// Whether the file ends in the middle of a line.
    private var isTorn: Bool
    /// Whether no other process may claim the file.
    private var isClaimed = false
    /// The lines that the last `append` wrote completely, if it failed.
    package private(set) var savedLines = 0

    /// Opens a file, which is created with mode 0600 if it is missing. A symbolic link is refused, and so is
    /// the file of another user.
    package init(_ path: String) throws(IOError) {
        self.path = path
        let opened = try Self.open(path)
        identity = Identity(try Syscalls.status(opened.rawValue))
        descriptor = opened
        isTorn = Self.isTorn(path)
    }

    /// Claims the file for this process, and what takes its place after a rotation.
    ///
    /// - Throws: EWOULDBLOCK when another process has claimed it.
    package func claim() throws(IOError) {
        try lock(descriptor.rawValue)
        isClaimed = true
    }

    private func lock(_ number: Int32) throws(IOError) {
        if flock(number, LOCK_EX | LOCK_NB) == 0 { return }
        let error = IOError("flock")
        // Not every file system has locks.
        if error.errno == EWOULDBLOCK { throw error.applied(to: path) }
    }

    private static func open(_ path: String) throws(IOError) -> FileDescriptor {
        do throws(IOError) {
            let descriptor = try Syscalls.open(
                path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
            let status = try Syscalls.status(descriptor.rawValue)
            // Whoever created the file could read what is written to it.
            guard status.st_mode & S_IFMT != S_IFREG || status.st_uid == geteuid() || status.st_uid == 0
            else { throw IOError(errno: EACCES, function: "open") }
            return descriptor
        } catch { throw error.applied(to: path) }
    }

    /// Whether the file ends with an incomplete line: the disk was full, or the process was killed.
    private static func isTorn(_ path: String) -> Bool {
        // A pipe has no end to look at.
        (try? tail(of: path, maxBytes: 1))?.last.map { $0 != 0x0A } ?? false
    }

    /// Returns the last bytes of a regular file; empty for an empty file, and for anything else.
    package static func tail(of path: String, maxBytes: Int) throws(IOError) -> [UInt8] {
        let descriptor = try Syscalls.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let status = try Syscalls.status(descriptor.rawValue)
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return [] }
        let count = min(Int(clamping: status.st_size), maxBytes)
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let offset = Int(clamping: status.st_size) - count + filled
            let read = try Self.read(descriptor.rawValue, &bytes, from: filled, at: offset)
            guard read > 0 else { break }
            filled += read
        }
        return Array(bytes.prefix(filled))
    }

    private static func read(
        _ number: Int32, _ bytes: inout [UInt8], from start: Int, at offset: Int
    ) throws(IOError) -> Int {
        let outcome = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(IOError) in
                unsafe try Syscalls.pread(
                    number, into: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]), at: offset)
            }
        }
        return try outcome.get()
    }

    /// Whether the path leads to an empty file, or to none.
    package var hasNoLine: Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return true }
        return status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    }

    /// Whether the open file was removed: what is appended to it is lost when it is closed.
    package var isRemoved: Bool {
        // If the status cannot be read, the next write reports the failure.
        (try? Syscalls.status(descriptor.rawValue))?.st_nlink == 0
    }

    /// Opens the path again if it no longer leads to the open file. Returns whether it did not.
    package func reopenIfMoved() throws(IOError) -> Bool {
        savedLines = 0
        var status = stat()
        if unsafe lstat(path, &status) == 0, Identity(status) == identity { return false }
        try reopen()
        return true
    }

    /// Opens the path again. If that fails, the file that is open stays in use.
    package func reopen() throws(IOError) {
        savedLines = 0
        let opened = try Self.open(path)
        let found = Identity(try Syscalls.status(opened.rawValue))
        if isClaimed {
            // A second lock on the same file would wait for the first one.
            if found == identity {
                isTorn = Self.isTorn(path)
                return
            }
            try lock(opened.rawValue)
        }
        identity = found
        descriptor = opened
        isTorn = Self.isTorn(path)
    }

    /// Appends complete lines, after the end of an incomplete one.
    ///
    /// - Throws: when not all of it could be written; the rest is lost, and the file may end with an
    ///   incomplete line.
    package func append(_ lines: [UInt8]) throws(IOError) {
        var written = 0
        savedLines = 0
        do {
            if isTorn {
                var ended = 0
                try write([0x0A], &ended)
                isTorn = false
            }
            try write(lines, &written)
        } catch {
            savedLines = lines[..<written].count { $0 == 0x0A }
            throw error
        }
    }

    private func write(_ bytes: [UInt8], _ written: inout Int) throws(IOError) {
        while written < bytes.count {
            let rest = written
            let outcome = unsafe bytes.withUnsafeBytes { all in
                Result { () throws(IOError) in
                    unsafe try Syscalls.write(
                        descriptor.rawValue, UnsafeRawBufferPointer(rebasing: all[rest...]))
                }
            }
            do throws(IOError) {
                guard let count = try outcome.get(), count > 0 else {
                    throw IOError(errno: EAGAIN, function: "write")
                }
                written += count
            } catch {
                if written > 0 { isTorn = bytes[written - 1] != 0x0A }
                throw error.applied(to: path)
            }
        }
    }
}
