#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The programs that this process has started, for the moment when it leaves without waiting for them.
enum ChildPrograms {
    /// Ends them at once, with all that they started in their groups: a server that ignores the end of its
    /// input would otherwise outlive us. Linux only; elsewhere nothing is known of them here.
    static func killAll() {
        for child in pids() {
            let group = getpgid(child)
            if group == child, group != getpgrp() { kill(-group, SIGKILL) }
            kill(child, SIGKILL)
        }
    }

    /// proc(5) lists the children of each thread.
    private static func pids() -> [Int32] {
        #if os(Linux)
        guard let folder = unsafe opendir("/proc/self/task") else { return [] }
        defer { unsafe closedir(folder) }
        var pids: [Int32] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard Int32(name) != nil, let bytes = try? SystemFile.read("/proc/self/task/\(name)/children")
            else {
                continue
            }
            pids += String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
        }
        return pids
        #else
        return []
        #endif
    }
}
