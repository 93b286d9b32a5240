#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Functions that kill processes identified by their process group or by a variable in their environment.
enum ProcessSweep {
    /// An environment variable that every process of a set was started with, and that its children inherit.
    struct Mark: Sendable, Hashable {
        /// The variable that identifies the supervisor of a command.
        static let variable = "MCP_SUPERVISOR"
        static let byteCount = 16

        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// Creates a mark that no other process has.
        static func random() -> Mark { Mark(SystemRandom().bytes(byteCount)) }

        /// The value of the variable: 32 hexadecimal digits.
        var value: String {
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
        }
    }

    /// The pause between two scans of the system's processes, in milliseconds.
    private static let pause: Int32 = 5
    /// The maximum number of scans: a process that hangs in the kernel stays until the kernel releases it.
    private static let maxLooks = 200

    /// Kills the groups and, on Linux, every process that has the mark, until `quiet` consecutive scans find
    /// none.
    ///
    /// The mark finds processes that have left their group, and those that were started but not yet
    /// announced. A process of another user is not found, and neither is one that has cleared its environment
    /// and left its group. On other systems only the groups are killed.
    static func kill(groups: some Sequence<Int32>, mark: Mark, quiet: Int) {
        for group in groups { killGroup(group) }
        #if os(Linux)
        var calm = 0
        for _ in 0 ..< maxLooks {
            calm = killMarked(mark) ? 0 : calm + 1
            if calm >= quiet { return }
            wait(milliseconds: pause)
        }
        #endif
    }

    static func killGroup(_ group: Int32) {
        // 0 and 1 would mean our own group and all processes.
        if group > 1 { signalGroup(group) }
    }

    static func wait(milliseconds: Int32) {
        var nothing: [pollfd] = []
        // Just a pause; one that ends early is fine.
        _ = try? Syscalls.poll(&nothing, timeoutMilliseconds: milliseconds)
    }

    #if os(Linux)
    /// Scans once; returns false if no process has the mark.
    private static func killMarked(_ mark: Mark) -> Bool {
        let entry = Array("\(Mark.variable)=\(mark.value)".utf8)
        let own = getpid()
        var found = false
        guard let directory = unsafe opendir("/proc") else { return false }
        defer { unsafe closedir(directory) }
        while let item = unsafe readdir(directory) {
            guard let process = unsafe number(&item.pointee.d_name), process > 1, process != own,
                // Fails for a process that has ended or is not ours.
                let environment = try? Files.read("/proc/\(process)/environ", maxBytes: 4 << 20),
                environment.split(separator: 0).contains(where: { $0.elementsEqual(entry) })
            else { continue }
            // Its number cannot have been reused: the kernel would have had to go through all the others
            // first.
            found = signalProcess(process) || found
        }
        return found
    }

    /// Returns the number that a NUL-terminated name consists of.
    private static func number<Name>(_ name: inout Name) -> Int32? {
        unsafe withUnsafeBytes(of: &name) { bytes in
            let digits = unsafe bytes.prefix { $0 != 0 }
            return unsafe Int32(String(decoding: digits, as: UTF8.self))
        }
    }

    private static func signalProcess(_ process: Int32) -> Bool { sysKill(process, SIGKILL) == 0 }
    #endif

    private static func signalGroup(_ group: Int32) { _ = sysKill(-group, SIGKILL) }
}

/// Calls `kill` of the C library, which the method above hides.
private func sysKill(_ process: Int32, _ number: Int32) -> Int32 { kill(process, number) }
