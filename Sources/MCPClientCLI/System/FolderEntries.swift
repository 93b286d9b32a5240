#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What stands in a folder of proc(5).
enum FolderEntries {
    /// The names, without `.` and `..`; nil when the folder cannot be read to its end.
    static func names(_ path: String) -> [String]? {
        guard let folder = unsafe opendir(path) else { return nil }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while true {
            // Only errno tells the end from a failure.
            errno = 0
            guard let entry = unsafe readdir(folder) else { return errno == 0 ? names : nil }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// What a symbolic link says; nil, with errno, when it cannot be read or is longer than a path may be.
    static func link(_ path: String) -> String? {
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
