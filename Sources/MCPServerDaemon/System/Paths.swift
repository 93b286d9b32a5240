import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Which file a path leads to, links followed: paths with equal identities are one file, also where none
/// stands yet.
enum FileIdentity: Hashable {
    case file(device: UInt64, inode: UInt64)
    case entry(device: UInt64, inode: UInt64, name: String)
    case path(String)

    init(_ path: String) {
        if let (device, inode) = Self.look(path) {
            self = .file(device: device, inode: inode)
        } else if let (device, inode) = Self.look(Paths.parent(of: path)) {
            self = .entry(device: device, inode: inode, name: Paths.components(path).last ?? "")
        } else {
            self = .path(Paths.absolute(path, relativeTo: "/"))
        }
    }

    private static func look(_ path: String) -> (UInt64, UInt64)? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }
}

/// Names of files, by the rules of POSIX and without asking for more than is needed.
enum Paths {
    static let defaultSearchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    /// The directory of this process, `/` where it is gone.
    static var currentDirectory: String {
        guard let text = unsafe getcwd(nil, 0) else { return "/" }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    /// `path` without `.` and empty components, absolute; `..` is left to the kernel, because of symbolic
    /// links.
    static func absolute(_ path: String, relativeTo directory: String) -> String {
        let joined = path.hasPrefix("/") ? path : "\(directory)/\(path)"
        let components = components(joined).filter { $0 != "." }
        return "/" + components.joined(separator: "/")
    }

    static func parent(of path: String) -> String {
        "/" + components(path).dropLast().joined(separator: "/")
    }

    /// The parts between the slashes, by bytes.
    static func components(_ path: String, omittingEmpty: Bool = true) -> [String] {
        Files.components(path, omittingEmpty: omittingEmpty)
    }

    /// Why `path` cannot serve as a directory, nil where it can.
    static func directoryProblem(_ path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            return errno == ENOENT ? "does not exist" : "cannot be opened"
        }
        return status.st_mode & S_IFMT == S_IFDIR ? nil : "is not a directory"
    }

    /// The path of the executable that `program` names in a search path, nil where there is none.
    static func findProgram(_ program: String, in searchPath: String) -> String? {
        if program.utf8.contains(UInt8(ascii: "/")) { return isExecutable(program) ? program : nil }
        for directory in searchPath.split(separator: ":") {
            let candidate = "\(directory)/\(program)"
            if isExecutable(candidate) { return candidate }
        }
        return nil
    }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && access(path, X_OK) == 0
    }
}
