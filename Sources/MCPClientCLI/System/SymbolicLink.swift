#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Symbolic links, read without following them.
enum SymbolicLink {
    /// Returns the destination of a link; nil, with errno set, when it cannot be read or is longer than a
    /// path may be.
    static func destination(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
            guard let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return -1 }
            return unsafe readlink(path, start, bytes.count)
        }
        if count == buffer.count {
            errno = ENAMETOOLONG
            return nil
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
