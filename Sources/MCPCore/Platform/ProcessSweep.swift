#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Ends processes by what they are known by: their group, or a variable of their environment.
enum ProcessSweep {
    /// A name and value that every process of a set was started with, and that its children inherit.
    struct Mark: Sendable, Hashable {
        /// The variable that names the supervisor of a command.
        static let variable = "MCP_SUPERVISOR"
        static let byteCount = 16

        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// A value that no other process has.
        static func random() -> Mark { Mark(SystemRandom().bytes(byteCount)) }

        /// 32 hexadecimal digits.
        var value: String {
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
        }
    }

    /// Between two looks at the processes of the system, in milliseconds.
    private static let pause: Int32 = 5
    /// Looks at most: a process that hangs in the kernel stays until the kernel lets go of it.
    private static let maxLooks = 200

    /// Kills the groups and, on Linux, every process that has the mark, until `quiet` looks one after the
    /// other find none.
    ///
    /// The mark finds what has left its group, and what was started but not yet announced. A process of
    /// another user, or one that has cleared its environment and left its group, is not found. On other
    /// systems only the groups are killed.
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
        // 0 and 1 would mean our own group and everything.
        if group > 1 { signalGroup(group) }
    }

    static func wait(milliseconds: Int32) {
        var nothing: [pollfd] = []
        // Only a pause: one that ends early is as good.
        _ = try? Syscalls.poll(&nothing, timeoutMilliseconds: milliseconds)
    }

    #if os(Linux)
    /// Looks once; false when no process has the mark.
    private static func killMarked(_ mark: Mark) -> Bool {
        let entry = Array("\(Mark.variable)=\(mark.value)".utf8)
        let own = getpid()
        var found = false
        guard let directory = unsafe opendir("/proc") else { return false }
        defer { unsafe closedir(directory) }
        while let item = unsafe readdir(directory) {
            guard let process = unsafe number(&item.pointee.d_name), process > 1, process != own,
                // One that has ended, or is not ours.
                let environment = try? Files.read("/proc/\(process)/environ", maxBytes: 4 << 20),
                environment.split(separator: 0).contains(where: { $0.elementsEqual(entry) })
            else { continue }
            // Its number cannot have been given away: it would take a whole round of numbers.
            found = signalProcess(process) || found
        }
        return found
    }

    /// The number that a NUL-terminated name consists of.
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

/// `kill` of the C library, which the method above hides.
private func sysKill(_ process: Int32, _ number: Int32) -> Int32 { kill(process, number) }
