#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension RootDirectory {
    /// Returns the real, absolute path of an existing file or directory beneath the root, for programs that
    /// expect a file name.
    ///
    /// The kernel opens it beneath the root and reports its name, so at that moment the path contains no
    /// symlink and no `..`. A process that may rename files inside the root can still swap it before the
    /// program opens it.
    package func resolve(_ relative: String) throws(RootError) -> String {
        let file = try open(relative, O_RDONLY | O_NONBLOCK)
        let root = try open(".", O_RDONLY | O_DIRECTORY)
        let (path, top): (String, String)
        do throws(IOError) { (path, top) = (try Self.name(of: file), try Self.name(of: root)) } catch {
            throw .failed(error.applied(to: relative))
        }
        // It was moved out between the two lookups, or deleted.
        guard path == top || path.utf8.starts(with: (top == "/" ? "/" : top + "/").utf8) else {
            throw .outside(relative)
        }
        return path
    }

    private static func name(of file: borrowing FileDescriptor) throws(IOError) -> String {
        let fd = file.rawValue
        #if canImport(Darwin)
        let call: StaticString = "fcntl"
        var buffer = [UInt8](repeating: 0, count: Int(MAXPATHLEN) + 1)
        try Syscalls.require(call, on: fd) {
            unsafe buffer.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return 0 }
                return Int(unsafe fcntl(fd, F_GETPATH, base))
            }
        }
        let name = buffer.prefix { $0 != 0 }
        #else
        let call: StaticString = "readlink"
        var buffer = [UInt8](repeating: 0, count: maxPathBytes)
        let link = "/proc/self/fd/\(fd)"
        let count = try Syscalls.require(call, on: fd) {
            unsafe buffer.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return 0 }
                return unsafe readlink(link, base.assumingMemoryBound(to: CChar.self), bytes.count)
            }
        }
        if count == buffer.count { throw IOError(errno: ENAMETOOLONG, function: "\(call)") }
        let name = buffer[..<count]
        #endif
        guard let text = String(validating: name, as: UTF8.self) else {
            throw IOError(errno: EILSEQ, function: "\(call)")
        }
        return text
    }
}
