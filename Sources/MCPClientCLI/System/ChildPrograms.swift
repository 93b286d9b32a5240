import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The programs that this process has started, for when it exits without waiting for them.
enum ChildPrograms {
    /// Kills them at once, together with everything that they started in their process groups.
    ///
    /// A server that ignores the end of its input would otherwise outlive this process. Linux only; elsewhere
    /// nothing is known about them here.
    static func killAll() {
        for child in pids() {
            let group = getpgid(child)
            if group == child, group != getpgrp() { kill(-group, SIGKILL) }
            kill(child, SIGKILL)
        }
    }

    /// Returns the ids of the children; proc(5) lists them for each thread.
    static func pids() -> [Int32] {
        #if os(Linux)
        var pids: [Int32] = []
        // Without /proc no children can be found here; the end of their input reaches them anyway.
        for thread in (try? Files.names(in: "/proc/self/task").names) ?? [] {
            // The thread has ended in the meantime.
            guard let bytes = try? SystemFile.read("/proc/self/task/\(thread)/children") else { continue }
            pids += String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
        }
        return pids
        #else
        return []
        #endif
    }
}
