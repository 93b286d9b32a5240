#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Operations on whole files of the program itself: configuration, tokens, state. For paths received from
/// peers, see `RootDirectory`.
package enum Files {
    /// The current directory of this process, or nil if it no longer exists.
    package static var currentDirectory: String? {
        guard let text = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    /// Reads a regular file of at most `maxBytes`.
    ///
    /// - Throws: EISDIR or EINVAL when it is not a regular file, EFBIG when it is longer.
    package static func read(_ path: String, maxBytes: Int) throws(IOError) -> [UInt8] {
        do {
            let file = try Syscalls.open(path, O_RDONLY | O_NONBLOCK)
            return try read(file, maxBytes: maxBytes).bytes
        } catch { throw error.applied(to: path) }
    }

    /// Replaces a file atomically: a reader sees either the old or the new content, even after a crash.
    ///
    /// Only a regular file or a symbolic link is replaced; a socket, a FIFO or a device is left alone
    /// (EINVAL).
    ///
    /// - Parameters:
    ///   - mode: the permissions of the new file, without those that the process's umask masks out.
    ///   - isExact: whether the permissions are exactly those of `mode`, regardless of the umask.
    ///   - temporary: the path of the file next to it that is written and then renamed; it must not exist.
    ///     Nil: a name is generated.
    ///   - isDurable: whether it waits until the file would survive a power failure; a cache need not.
    package static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32 = 0o600, isExact: Bool = false,
        through temporary: String? = nil, isDurable: Bool = true
    ) throws(IOError) {
        let suffix = SystemRandom().bytes(8).map { String($0, radix: 16) }.joined()
        let temporary = temporary ?? "\(path).\(suffix).tmp"
        do throws(IOError) {
            if let info = try? info(path), info.kind == .other {
                throw IOError(errno: EINVAL, function: "replace")
            }
            let file = try Syscalls.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode_t(mode))
            do throws(IOError) {
                let fd = file.rawValue
                if isExact { try Syscalls.require("fchmod", on: fd) { Int(fchmod(fd, mode_t(mode))) } }
                try unsafe bytes.withUnsafeBufferPointer { bytes throws(IOError) in
                    unsafe try Syscalls.writeAll(fd, UnsafeRawBufferPointer(bytes))
                }
                if isDurable {
                    try Syscalls.require("fsync", on: file.rawValue) { Int(fsync(file.rawValue)) }
                }
                try Syscalls.require("rename") { Int(unsafe rename(temporary, path)) }
            } catch {
                unsafe unlink(temporary)
                throw error
            }
            guard isDurable else { return }
            // The rename itself is durable once its directory is.
            let slash = path.utf8.lastIndex(of: 0x2F)
            let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            // A directory that cannot be read can still be written to, and a file system may not support the
            // request; the file is in place either way.
            guard let directory = try? Syscalls.open(parent, O_RDONLY | O_DIRECTORY) else { return }
            _ = fsync(directory.rawValue)
        } catch { throw error.applied(to: path) }
    }

    /// Returns the permission bits, owner and size of a file.
    ///
    /// - Parameter followsLinks: whether a symlink in the last component stands for the file it leads to.
    package static func info(_ path: String, followsLinks: Bool = false) throws(IOError) -> FileInfo {
        var status = stat()
        let result = unsafe followsLinks ? stat(path, &status) : lstat(path, &status)
        guard result == 0 else { throw IOError("stat").applied(to: path) }
        return FileInfo(status)
    }

    /// Returns the absolute path without symbolic links of what a path leads to; nil if there is nothing.
    package static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// Whether a path names a descriptor that this process was started with, as `<(COMMAND)` of a shell does.
    package static func isInherited(_ path: String) -> Bool {
        ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"].contains { path.hasPrefix($0) }
    }

    package static let pipeReason = "it is a named pipe, not a file"

    /// Returns why code that reads to the end of a file must not open a path: nobody may ever write to a
    /// named pipe, and a device may have no end. Nil for a file, for nothing, and for what was inherited.
    static func whyNotReadable(_ path: String) -> String? {
        var status = stat()
        guard !isInherited(path), unsafe stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: return nil
        case S_IFIFO: return pipeReason
        default: return "it is not a regular file"
        }
    }

    static func whyNotDirectory(_ path: String) -> IOError? {
        var status = stat()
        if unsafe stat(path, &status) != 0 { return IOError("stat") }
        return status.st_mode & S_IFMT == S_IFDIR ? nil : IOError(errno: ENOTDIR, function: "chdir")
    }

    /// Reads an open regular file from its start, as it was at one moment if possible.
    ///
    /// It reads exactly as many bytes as the file had at the beginning, so a file that grows yields a prefix.
    /// A file that shrinks or is rewritten during the read is read again, for at most three attempts.
    static func read(
        _ file: borrowing FileDescriptor, maxBytes: Int
    ) throws(IOError) -> (bytes: [UInt8], info: FileInfo) {
        for _ in 0 ..< 3 {
            let before = FileInfo(try Syscalls.status(file.rawValue))
            switch before.kind {
            case .file: break
            case .directory: throw IOError(errno: EISDIR, function: "read")
            case .symlink, .other: throw IOError(errno: EINVAL, function: "read")
            }
            if before.size > maxBytes { throw IOError(errno: EFBIG, function: "read") }
            // Files in /proc and /sys report size 0 and have content all the same.
            let wanted = before.size > 0 ? before.size : maxBytes
            let bytes = try readPrefix(file, wanted, growing: before.size == 0)
            let after = FileInfo(try Syscalls.status(file.rawValue))
            if before.size == 0 {
                if bytes.count > maxBytes { throw IOError(errno: EFBIG, function: "read") }
                return (bytes, before)
            }
            let isAppendedOnly = after.size > before.size
            if bytes.count == before.size, after.modified == before.modified || isAppendedOnly {
                return (bytes, before)
            }
        }
        throw IOError(errno: EBUSY, function: "read")
    }

    /// Reads up to `count` bytes; if `growing`, one more, as a sign that there are more.
    private static func readPrefix(
        _ file: borrowing FileDescriptor, _ count: Int, growing: Bool
    ) throws(IOError) -> [UInt8] {
        // Most files of /proc, which have no size, are short.
        var step = 4_096
        var bytes = [UInt8](repeating: 0, count: growing ? min(count + 1, step) : count)
        var filled = 0
        while filled < bytes.count {
            let fd = file.rawValue
            let got = try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(IOError) -> Int in
                let rest = unsafe UnsafeMutableRawBufferPointer(
                    UnsafeMutableBufferPointer(rebasing: buffer[filled...]))
                return unsafe try Syscalls.pread(fd, into: rest, at: filled)
            }
            if got == 0 { break }
            filled += got
            if growing, filled == bytes.count, filled <= count {
                step = min(step * 2, 1 << 20)
                bytes += [UInt8](repeating: 0, count: min(step, count + 1 - filled))
            }
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }
}

/// What a file is, however it is named.
package struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// The properties of a file that are known without reading it.
package struct FileInfo: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case file, directory, symlink, other }

    package let kind: Kind
    /// The size in bytes.
    package let size: Int
    /// The time of the last change to the content.
    package let modified: WallTime
    /// The permission bits, for example 0o644.
    package let permissions: UInt32
    /// The owner's user id.
    package let owner: UInt32
    /// Distinguishes the file from another one that is put in its place.
    package let identity: FileIdentity

    init(_ status: stat) {
        identity = FileIdentity(status)
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .symlink
        default: kind = .other
        }
        size = Int(clamping: status.st_size)
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        modified = WallTime(secondsSinceEpoch: Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
        permissions = UInt32(status.st_mode) & 0o7777
        owner = status.st_uid
    }
}
