import MCPCore

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
    static func pids() -> [Int32] {
        #if os(Linux)
        var pids: [Int32] = []
        // Where /proc tells nothing nobody can be found here; the end of their input reaches them anyway.
        for thread in (try? Files.names(in: "/proc/self/task").names) ?? [] {
            // A thread that has ended meanwhile.
            guard let bytes = try? SystemFile.read("/proc/self/task/\(thread)/children") else { continue }
            pids += String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
        }
        return pids
        #else
        return []
        #endif
    }
}
