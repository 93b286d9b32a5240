import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

#if os(Linux)
/// What the kernel tells about processes.
package enum ProcFS {
    /// The numbers of the open descriptors of this process.
    /// What is open, but for what Dispatch opens for itself when it first needs it: `7 → pipe:[81]`.
    package static var openDescriptors: [String] {
        (Int32(0) ..< 4_096).compactMap { number in
            guard fcntl(number, F_GETFD) >= 0 else { return nil }
            var buffer = [CChar](repeating: 0, count: 256)
            let count = unsafe readlink("/proc/self/fd/\(number)", &buffer, buffer.count - 1)
            let target = String(
                decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let ofDispatch = ["anon_inode:[eventpoll]", "anon_inode:[eventfd]", "anon_inode:[timerfd]"]
            return ofDispatch.contains(target) ? nil : "\(number) → \(target)"
        }
    }

    package static func state(of pid: Int32) -> Character? {
        guard let stat = try? Files.read("/proc/\(pid)/stat", maxBytes: 4_096) else { return nil }
        let text = text(stat)
        guard let bracket = text.lastIndex(of: ")") else { return nil }
        return text[bracket...].dropFirst(2).first
    }
}
#endif

/// Whether a process that was killed is gone, or a zombie that waits for init; it may take a moment to die.
package func isGone(_ pid: Int32) -> Bool {
    for _ in 0 ..< 1_000 {
        #if os(Linux)
        if ProcFS.state(of: pid).map({ $0 == "Z" || $0 == "X" }) ?? true { return true }
        #else
        if kill(pid, 0) != 0 { return true }
        #endif
        var none: [pollfd] = []
        _ = try? Syscalls.poll(&none, timeoutMilliseconds: 5)
    }
    return false
}
