#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension RootDirectory {
    /// The real, absolute path of an existing file or directory beneath the root, for programs that take a
    /// name.
    ///
    /// The kernel opens it beneath the root and tells its name, so the path holds no symlink and no `..` at
    /// that moment. Whoever may rename inside the root can still swap it before the program opens it.
    package func resolve(_ relative: String) throws(RootError) -> String {
        let file = try open(relative, O_RDONLY | O_NONBLOCK)
        let root = try open(".", O_RDONLY | O_DIRECTORY)
        guard let path = Self.name(of: file), let top = Self.name(of: root) else {
            throw .failed(IOError(errno: ENOENT, function: "readlink").applied(to: relative))
        }
        // Moved out between the two look-ups, or deleted.
        guard path == top || path.utf8.starts(with: (top == "/" ? "/" : top + "/").utf8) else {
            throw .outside(relative)
        }
        return path
    }

    private static func name(of file: borrowing FileDescriptor) -> String? {
        #if canImport(Darwin)
        var buffer = [CChar](repeating: 0, count: Int(MAXPATHLEN) + 1)
        let fd = file.rawValue
        let status = unsafe buffer.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let base = buffer.baseAddress else { return -1 }
            return unsafe fcntl(fd, F_GETPATH, base)
        }
        guard status == 0 else { return nil }
        return String(validating: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
        var buffer = [UInt8](repeating: 0, count: maxPathBytes)
        let link = "/proc/self/fd/\(file.rawValue)"
        let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe readlink(link, base.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
        #endif
    }
}
