import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The file of `-o`, or one next to it: checked before anything is sent, written when the command is done.
///
/// A regular file is replaced as a whole, by renaming a file next to it: until then an existing file stays as
/// it was, and a new one does not exist. Anything else at the path (a pipe, a device, a descriptor of ours)
/// is opened first and written to. A file that renaming would change for others (with another owner or group,
/// with a second name, in a folder that we may not write to) is overwritten in place.
///
/// A file beside it has a name that the user did not choose: it only takes the place of a regular file or of
/// a symbolic link, which is not followed.
final class OutputFile: Sendable {
    private enum Place {
        case replaced(path: String, mode: UInt32?)
        case inPlace
        case descriptor(Int32)
        /// Only by renaming: whatever is there does not lead anywhere else.
        case beside(mode: UInt32?)
    }

    private let path: String
    private let place: Place

    /// Checks the location of the file.
    ///
    /// - Throws: a failure with exit code 2 when nothing can be written there.
    init(_ path: String) throws(Failure) {
        self.path = path
        if let number = Self.ownDescriptor(path) {
            let copy = dup(number)
            guard copy >= 0 else { throw Self.refusal(path, errno) }
            place = .descriptor(copy)
            return
        }
        var info = stat()
        guard unsafe stat(path, &info) == 0 else {
            guard errno == ENOENT else { throw Self.refusal(path, errno) }
            place = .replaced(path: try Self.newFile(path), mode: nil)
            return
        }
        let kind = info.st_mode & S_IFMT
        if kind == S_IFDIR { throw Self.refusal(path, EISDIR) }
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw Self.refusal(path, errno) }
        if kind != S_IFREG {
            place = .descriptor(descriptor)
            return
        }
        close(descriptor)
        if info.st_nlink == 1, info.st_uid == geteuid(), info.st_gid == getegid(),
            let target = Files.resolved(path), Self.isWritable(Self.folder(of: target))
        {
            place = .replaced(path: target, mode: UInt32(info.st_mode) & 0o7777)
        } else {
            place = .inPlace
        }
    }

    /// Checks the location of a file beside the one that the user named.
    init(beside path: String) throws(Failure) {
        self.path = path
        var info = stat()
        var mode: UInt32?
        if unsafe lstat(path, &info) == 0 {
            switch info.st_mode & S_IFMT {
            case S_IFREG: mode = info.st_uid == geteuid() ? UInt32(info.st_mode) & 0o777 : nil
            case S_IFLNK: break
            case S_IFDIR: throw Self.refusal(path, EISDIR)
            default: throw Self.refusal(path, EEXIST)
            }
        } else if errno != ENOENT {
            throw Self.refusal(path, errno)
        }
        let parent = Self.folder(of: path)
        guard unsafe stat(parent, &info) == 0, Self.isWritable(parent) else {
            throw Self.refusal(path, errno)
        }
        place = .beside(mode: mode)
    }

    deinit { if case .descriptor(let descriptor) = place { close(descriptor) } }

    /// Writes the bytes.
    func write(_ bytes: [UInt8]) throws(Failure) {
        var code: Int32?
        switch place {
        case .descriptor(let descriptor): code = SystemFile.writeAll(descriptor, bytes)
        case .inPlace: code = Self.overwrite(path, bytes)
        case .replaced(let target, let mode):
            code = Self.replace(target, mode, bytes)
            // A file that is a mount point cannot be replaced by renaming.
            if mode != nil, code == EBUSY || code == EXDEV { code = Self.overwrite(target, bytes) }
        case .beside(let mode): code = Self.replace(path, mode, bytes)
        }
        if let code {
            throw Failure(
                code: .unreachable, kind: .output,
                message: "cannot write \(inlineText(path)): \(SystemFile.text(code))")
        }
    }

    // MARK: Writing

    private static func replace(_ target: String, _ mode: UInt32?, _ bytes: [UInt8]) -> Int32? {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        let temporary = "\(folder(of: target))/.mcp-client-\(number).tmp"
        unfinished.withLock { $0 = temporary }
        defer { unfinished.withLock { $0 = nil } }
        do {
            try Files.replace(
                target, with: bytes, mode: mode ?? 0o666, isExact: mode != nil, through: temporary)
            return nil
        } catch { return error.errno }
    }

    private static func overwrite(_ path: String, _ bytes: [UInt8]) -> Int32? {
        let descriptor = unsafe open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        if descriptor < 0 { return errno }
        let code = SystemFile.writeAll(descriptor, bytes)
        // Some file systems report a full disk only here.
        return close(descriptor) != 0 && code == nil ? errno : code
    }

    /// The path of the file being written, in case the process ends before the write is complete.
    private static let unfinished = Mutex<String?>(nil)

    /// Removes a file that is only partly written.
    static func removeUnfinished() {
        unfinished.withLock { path in
            if let path { unsafe unlink(path) }
        }
    }

    // MARK: Checking

    /// - Parameter folder: where the file would be, if links lead there.
    private static func refusal(_ path: String, _ code: Int32, in folder: String? = nil) -> Failure {
        let folder = inlineText(ShellWord.quote(folder ?? Self.folder(of: path)))
        let hint =
            switch code {
            case ENOENT: "mkdir -p \(folder) makes its directory"
            case EISDIR: "name a file in that directory"
            default: "name a file in a directory in which you may write"
            }
        return .usage(
            "cannot write \(inlineText(path)): \(SystemFile.text(code))", details: ["nothing was sent"],
            hint: hint)
    }

    /// Returns the descriptor that a path such as `/dev/stdout` names, which keeps its position in the
    /// underlying file.
    private static func ownDescriptor(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdout": return 1
        case "/dev/stderr": return 2
        default:
            let prefix = ["/dev/fd/", "/proc/self/fd/"].first { path.hasPrefix($0) }
            return prefix.flatMap { Int32(path.dropFirst($0.utf8.count)) }
        }
    }

    /// Returns the path to which links lead, whether or not there is a file.
    ///
    /// - Throws: a failure with exit code 2 for a link that cannot be read.
    static func destination(of path: String) throws(Failure) -> String {
        var target = path
        var info = stat()
        // As many links as the kernel follows.
        for _ in 0 ..< 40 {
            guard unsafe lstat(target, &info) == 0, info.st_mode & S_IFMT == S_IFLNK else { break }
            guard let next = SymbolicLink.destination(target) else { throw refusal(path, errno) }
            target = next.hasPrefix("/") ? next : "\(folder(of: target))/\(next)"
        }
        return target
    }

    /// Returns the path of a file that does not exist yet; links that lead to it are followed.
    private static func newFile(_ path: String) throws(Failure) -> String {
        let target = try destination(of: path)
        var info = stat()
        if target.hasSuffix("/") { throw refusal(path, EISDIR) }
        let parent = folder(of: target)
        guard unsafe stat(parent, &info) == 0 else { throw refusal(path, errno, in: parent) }
        guard isWritable(parent) else { throw refusal(path, errno) }
        return target
    }

    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func isWritable(_ folder: String) -> Bool { unsafe access(folder, W_OK | X_OK) == 0 }
}
