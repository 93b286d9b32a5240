import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The identity of the file that a path leads to, with links followed.
///
/// Paths with equal identities lead to the same file, even if none exists there yet.
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

/// File names by the rules of POSIX, without requesting more from the system than is needed.
enum Paths {
    static let defaultSearchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    /// The current directory of this process, or `/` if it no longer exists.
    static var currentDirectory: String { Files.currentDirectory ?? "/" }

    /// The path of this program's file.
    static var ownProgram: String {
        let program = SupervisorProgram.ownProgram
        // Elsewhere than on Linux it is no link.
        return resolved(program) ?? program
    }

    /// Returns `path` as an absolute path without `.` and empty components.
    ///
    /// `..` is left to the kernel, because of symbolic links.
    static func absolute(_ path: String, relativeTo directory: String) -> String {
        let joined = path.hasPrefix("/") ? path : "\(directory)/\(path)"
        let components = components(joined).filter { $0 != "." }
        return "/" + components.joined(separator: "/")
    }

    /// Returns the path with a beginning that tells what is written relative to it, also with `${configDir}`,
    /// from absolute paths: `/..`, which is the same as `/`.
    static func marked(_ path: String) -> String { mark + path }

    static func isMarked(_ path: String) -> Bool { path == mark || path.hasPrefix(mark + "/") }

    /// Returns the path without that beginning.
    static func unmarked(_ path: String) -> String {
        isMarked(path) ? absolute(String(path.dropFirst(mark.count)), relativeTo: "/") : path
    }

    private static let mark = "/.."

    static func parent(of path: String) -> String {
        "/" + components(path).dropLast().joined(separator: "/")
    }

    /// Returns the parts between the slashes, split by bytes.
    static func components(_ path: String, omittingEmpty: Bool = true) -> [String] {
        Files.components(path, omittingEmpty: omittingEmpty)
    }

    /// The problem of a directory that is not there.
    static let isMissing = "does not exist"

    /// Returns the reason why `path` cannot serve as a directory, or `nil` if it can.
    static func directoryProblem(_ path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            return errno == ENOENT ? isMissing : "cannot be opened"
        }
        return status.st_mode & S_IFMT == S_IFDIR ? nil : "is not a directory"
    }

    /// Explains to a person why a variable does not name a directory for sockets.
    static func problem(ofVariable name: String, _ environment: [String: String]) -> String {
        guard let path = environment[name], !path.isEmpty else { return "\(name) is not set" }
        guard path.hasPrefix("/") else { return "\(name) is not an absolute path: \(path)" }
        return "\(name): \(path) \(directoryProblem(path) ?? "is not usable for a socket")"
    }

    /// Returns the path without symbolic links of what `path` leads to, or `nil` if there is nothing.
    static func resolved(_ path: String) -> String? { Files.resolved(path) }

    /// Returns the places where a change decides what an absolute path leads to, without symbolic links: each
    /// entry on the way to it, and what it leads to now.
    static func places(of path: String) -> [String] {
        var places: [String] = []
        var walked = ""
        for name in components(path) {
            let parent = resolved(walked.isEmpty ? "/" : walked) ?? places.last ?? "/"
            if name != ".." { places.append("\(parent == "/" ? "" : parent)/\(name)") }
            walked += "/\(name)"
        }
        return places + [resolved(path)].compactMap(\.self)
    }

    /// Returns the path of the executable that `program` names in a search path, or `nil` if there is none.
    static func findProgram(_ program: String, in searchPath: String) -> String? {
        if program.utf8.contains(UInt8(ascii: "/")) { return isExecutable(program) ? program : nil }
        for directory in searchPath.split(separator: ":") {
            let candidate = "\(directory)/\(program)"
            if isExecutable(candidate) { return candidate }
        }
        return nil
    }

    /// Returns the program's file, or the directory on the way to it, that everybody may write to: anybody
    /// decides what is run. `nil` if there is none.
    static func replaceable(_ program: String) -> String? {
        let path = absolute(program, relativeTo: currentDirectory)
        for place in [path, resolved(path) ?? path] {
            var names = components(place)
            while !names.isEmpty {
                let part = "/" + names.joined(separator: "/")
                var status = stat()
                // With the sticky bit, nobody can replace the files of others.
                if unsafe stat(part, &status) == 0, status.st_mode & 0o002 != 0,
                    status.st_mode & S_IFMT != S_IFDIR || status.st_mode & 0o1000 == 0
                {
                    return part
                }
                names.removeLast()
            }
        }
        return nil
    }

    /// Whether something is at `path`, as far as this user can see.
    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether this user may create files in a directory.
    static func isWritableDirectory(_ path: String) -> Bool { unsafe access(path, W_OK | X_OK) == 0 }

    /// Whether this user may write to a file.
    static func isWritable(_ path: String) -> Bool { unsafe access(path, W_OK) == 0 }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && access(path, X_OK) == 0
    }
}
