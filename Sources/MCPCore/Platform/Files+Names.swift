#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The names in a directory.
package struct DirectoryNames: Sendable, Hashable {
    /// The names in no particular order, without `.` and `..`.
    package var names: [String] = []
    /// What each of the names is.
    var kinds: [Kind] = []
    /// The number of names that are not UTF-8 and therefore cannot be reported.
    package var unreadable = 0
    /// Whether there are more names than were requested.
    package var isTruncated = false

    /// What a name stands for.
    enum Kind: Sendable, Hashable {
        case directory, file, link, other
        /// Some file systems do not tell.
        case unknown

        init(_ type: UInt8) {
            switch Int32(type) {
            case Int32(DT_DIR): self = .directory
            case Int32(DT_REG): self = .file
            case Int32(DT_LNK): self = .link
            case Int32(DT_UNKNOWN): self = .unknown
            default: self = .other
            }
        }
    }
}

extension Files {
    /// Returns the names in a directory that the program itself chooses.
    ///
    /// - Throws: when the directory cannot be opened or cannot be read to its end; such a failure never
    ///   yields an empty result.
    package static func names(in path: String, atMost limit: Int = 100_000) throws(IOError) -> DirectoryNames
    {
        do throws(IOError) {
            return try names(in: try Syscalls.open(path, O_RDONLY | O_DIRECTORY), atMost: limit)
        } catch { throw error.applied(to: path) }
    }

    /// Returns the names in an open directory and consumes its descriptor.
    static func names(
        in directory: consuming FileDescriptor, atMost limit: Int
    ) throws(IOError) -> DirectoryNames {
        let fd = directory.rawValue
        var opened: OpaqueStream?
        try Syscalls.require("fdopendir", on: fd) {
            unsafe opened = fdopendir(fd)
            return unsafe opened == nil ? -1 : 0
        }
        guard let stream = unsafe opened else { throw IOError(errno: EBADF, function: "fdopendir") }
        // The stream owns the descriptor now.
        _ = directory.release()
        defer { unsafe closedir(stream) }
        var found = DirectoryNames()
        while let (bytes, kind) = try unsafe next(of: stream, fd) {
            guard let name = String(validating: bytes, as: UTF8.self) else {
                found.unreadable += 1
                continue
            }
            if name == "." || name == ".." { continue }
            if found.names.count >= limit {
                found.isTruncated = true
                break
            }
            found.names.append(name)
            found.kinds.append(kind)
        }
        return found
    }

    /// Returns the next name, or nil at the end; readdir(3) distinguishes an error from the end by errno
    /// alone.
    private static func next(
        of stream: OpaqueStream, _ fd: Int32
    ) throws(IOError) -> (name: [UInt8], kind: DirectoryNames.Kind)? {
        var found: (name: [UInt8], kind: DirectoryNames.Kind)?
        try Syscalls.require("readdir", on: fd) {
            errno = 0
            guard let entry = unsafe readdir(stream) else { return errno == 0 ? 0 : -1 }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
                unsafe Array($0.prefix { $0 != 0 })
            }
            found = (name, DirectoryNames.Kind(unsafe entry.pointee.d_type))
            return 1
        }
        return found
    }

    /// Returns the parts of a path between its slashes.
    ///
    /// The path is split by bytes, as the kernel sees it. By Swift's characters, a slash followed by a
    /// combining mark is not a slash, so one component here would be several for the kernel.
    package static func components(_ path: String, omittingEmpty: Bool = true) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: omittingEmpty)
            .map { String(Substring($0)) }
    }
}

#if canImport(Darwin)
private typealias OpaqueStream = UnsafeMutablePointer<DIR>
#else
private typealias OpaqueStream = OpaquePointer
#endif
