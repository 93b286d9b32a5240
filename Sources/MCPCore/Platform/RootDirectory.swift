#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A directory that paths from peers cannot leave.
///
/// The kernel itself opens paths beneath the directory's descriptor (openat2 with RESOLVE_BENEATH), so there
/// is no gap between check and use in which a name could be swapped. Where that call is missing (Darwin,
/// Linux before 5.6, some sandboxes), each component is opened with O_NOFOLLOW, and symlinks are refused
/// altogether. A hard link to a file elsewhere cannot be distinguished from the file; a process that may
/// create such links in the directory may read the file anyway.
package final class RootDirectory: Sendable {
    private let counted = Counted(.rootDirectory)

    /// The path with which the root was opened.
    package let path: String
    private let directory: FileDescriptor
    private let usesOpenat2: Bool

    /// The longest relative path in bytes.
    package static let maxPathBytes = 4_096

    /// Opens the root, which may itself be reached through symlinks.
    package convenience init(_ path: String) throws(IOError) { try self.init(path, usesOpenat2: true) }

    /// - Parameter usesOpenat2: false selects the slow path, which is also used when the kernel lacks the
    ///   call.
    init(_ path: String, usesOpenat2: Bool) throws(IOError) {
        do { directory = try Syscalls.open(path, O_RDONLY | O_DIRECTORY) } catch {
            throw error.applied(to: path)
        }
        self.path = path
        self.usesOpenat2 = usesOpenat2 ? try Self.hasOpenat2(directory) : false
    }

    /// Returns whether openat2 is available.
    ///
    /// Older kernels lack the call, and sandboxes refuse it with error numbers of their choice; the slow path
    /// is safe in all these cases.
    private static func hasOpenat2(_ directory: borrowing FileDescriptor) throws(IOError) -> Bool {
        #if os(Linux)
        let fd = directory.rawValue
        do {
            let probe = try Syscalls.perform("openat2", on: fd) {
                Int(
                    unsafe mcp_openat2(
                        fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, UInt64(MCP_RESOLVE_BENEATH)))
            }
            if let probe { Syscalls.close(Int32(truncatingIfNeeded: probe)) }
            return true
        } catch {
            // These say nothing about the call itself.
            if [EMFILE, ENFILE, ENOMEM, EIO].contains(error.errno) { throw error }
            return false
        }
        #else
        return false
        #endif
    }

    /// The identity of the directory, or nil if it cannot be determined.
    var identity: FileIdentity? { (try? Syscalls.status(directory.rawValue)).map(FileIdentity.init) }

    /// Whether the directory is still at its path. False if it has been removed, renamed or replaced by
    /// another one, or if this cannot be determined.
    package var isInPlace: Bool {
        var there = stat()
        // A caller that receives false opens the path again and sees why that fails.
        guard unsafe stat(path, &there) == 0, let own = try? Syscalls.status(directory.rawValue) else {
            return false
        }
        return there.st_dev == own.st_dev && there.st_ino == own.st_ino
    }

    /// Reads a regular file as it was at one moment.
    ///
    /// - Parameters:
    ///   - relative: the path beneath the root, separated by slashes, without `..`.
    ///   - maxBytes: the size limit; a longer file is refused.
    package func read(_ relative: String, maxBytes: Int) throws(RootError) -> (bytes: [UInt8], info: FileInfo)
    {
        let file = try openFile(relative)
        do throws(IOError) { return try Files.read(file, maxBytes: maxBytes) } catch {
            throw error.errno == EFBIG
                ? .tooLarge(relative, limit: maxBytes) : .failed(error.applied(to: relative))
        }
    }

    /// Returns the properties of a file or directory, following symlinks inside the root.
    package func info(_ relative: String) throws(RootError) -> FileInfo {
        try info(try open(relative, Self.inspect), relative)
    }

    #if os(Linux)
    /// The flags for opening a file in a way that a device or FIFO does not notice.
    static let inspect = Int32(MCP_O_PATH)
    #else
    static let inspect = O_RDONLY | O_NONBLOCK
    #endif

    /// Opens a regular file for reading; anything else is refused before a byte is read.
    package func openFile(_ relative: String) throws(RootError) -> FileDescriptor {
        // O_NONBLOCK: opening a device, or a FIFO without a writer, must not wait.
        let file = try open(relative, O_RDONLY | O_NONBLOCK)
        guard try info(file, relative).kind == .file else { throw .notRegular(relative) }
        return file
    }

    /// Opens a directory beneath the root; the empty path is the root.
    func openDirectory(_ relative: String) throws(RootError) -> FileDescriptor {
        try open(relative.isEmpty ? "." : relative, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }

    private func info(_ file: borrowing FileDescriptor, _ relative: String) throws(RootError) -> FileInfo {
        do { return FileInfo(try Syscalls.status(file.rawValue)) } catch {
            throw .failed(error.applied(to: relative))
        }
    }

    func open(_ relative: String, _ flags: Int32) throws(RootError) -> FileDescriptor {
        let components = try Self.components(relative)
        do {
            if usesOpenat2 { return try openBeneath(relative, flags) }
            // To the kernel, a path that ends with a slash or a dot is a directory.
            let last = Files.components(relative, omittingEmpty: false).last ?? ""
            let isDirectory = last.isEmpty || last.utf8.elementsEqual(".".utf8)
            return try walk(components, isDirectory ? flags | O_DIRECTORY : flags)
        } catch { throw Self.describe(error, relative) }
    }

    /// Translates an error number into an error for a path beneath the root.
    static func describe(_ error: IOError, _ relative: String) -> RootError {
        switch error.errno {
        // EXDEV is the kernel's error for a path that leaves the root.
        case EXDEV, ELOOP: .outside(relative)
        case ENOENT, ENOTDIR: .notFound(relative)
        // A socket (ENXIO on Linux, EOPNOTSUPP on Darwin), or a device without a driver.
        case ENXIO, ENODEV, EOPNOTSUPP: .notRegular(relative)
        case ENAMETOOLONG: .invalid(relative)
        default: .failed(error.applied(to: relative))
        }
    }

    /// Splits a path and refuses those that can only be an attempt to leave the root or to cause confusion.
    static func components(_ relative: String) throws(RootError) -> [String] {
        if relative.isEmpty || relative.utf8.count > maxPathBytes || relative.utf8.contains(0) {
            throw .invalid(relative)
        }
        if relative.utf8.first == UInt8(ascii: "/") { throw .outside(relative) }
        let components = Files.components(relative).filter { !$0.utf8.elementsEqual(".".utf8) }
        if components.contains(where: { $0.utf8.elementsEqual("..".utf8) }) { throw .outside(relative) }
        return components
    }

    private func openBeneath(_ relative: String, _ flags: Int32) throws(IOError) -> FileDescriptor {
        #if os(Linux)
        // openat2 refuses flags that have no meaning together, such as O_NOCTTY and O_PATH.
        let flags = flags | O_CLOEXEC | (flags & Self.inspect != 0 ? 0 : O_NOCTTY)
        let resolve = UInt64(MCP_RESOLVE_BENEATH | MCP_RESOLVE_NO_MAGICLINKS)
        // EAGAIN: something was renamed during the lookup, and the kernel cannot prove that the path stayed
        // inside.
        for _ in 0 ..< 16 {
            let fd = try Syscalls.perform("openat2", on: directory.rawValue) {
                Int(unsafe mcp_openat2(directory.rawValue, relative, flags, 0, resolve))
            }
            if let fd { return FileDescriptor(owning: Int32(truncatingIfNeeded: fd)) }
        }
        throw IOError(errno: EAGAIN, function: "openat2")
        #else
        throw IOError(errno: ENOSYS, function: "openat2")
        #endif
    }

    private func walk(_ components: [String], _ flags: Int32) throws(IOError) -> FileDescriptor {
        guard let last = components.last else {
            return try Syscalls.openat(directory.rawValue, ".", flags | O_NOFOLLOW)
        }
        var current = try directory.duplicate()
        for component in components.dropLast() {
            current = try Syscalls.openat(current.rawValue, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        }
        return try Syscalls.openat(current.rawValue, last, flags | O_NOFOLLOW)
    }
}

/// The reason why a path beneath a root cannot be used.
package enum RootError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path is absolute, contains `..`, or leads out of the root through a symlink.
    case outside(String)
    /// The path is empty, too long or contains NUL.
    case invalid(String)
    case notFound(String)
    /// The path refers to a directory, FIFO, socket or device.
    case notRegular(String)
    case tooLarge(String, limit: Int)
    case failed(IOError)

    /// Whether this process lacks permission to access the file.
    package var isDenied: Bool {
        if case .failed(let error) = self { error.errno == EACCES || error.errno == EPERM } else { false }
    }

    /// The text of the error, without the path.
    package var reason: String {
        switch self {
        case .outside: "outside the root directory"
        case .invalid: "not a usable path"
        case .notFound: "no such file or directory"
        case .notRegular: "not a regular file"
        case .tooLarge: "too large"
        case .failed(let error): error.reason
        }
    }

    package var description: String {
        switch self {
        case .outside(let path): "\(path): outside the root directory"
        case .invalid(let path): "\(path.prefix(80)): not a usable path"
        case .notFound(let path): "\(path): no such file or directory"
        case .notRegular(let path): "\(path): not a regular file"
        case .tooLarge(let path, let limit): "\(path): longer than the limit of \(limit) bytes"
        case .failed(let error): error.description
        }
    }
}
