#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Functions that kill processes identified by their process group or by what they inherit.
enum ProcessSweep {
    /// An environment variable that every process of a set was started with, and that its children inherit.
    ///
    /// On Linux, a process can also set the mark as its own limit of file locks, which the kernel does not
    /// enforce (setrlimit(2), RLIMIT_LOCKS). All its descendants inherit the limit, including those that
    /// have cleared their environment, left the session, and lost their parent.
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

        /// The number that is the limit: 62 of its bits are those of the mark, so nobody has it by chance.
        var limit: UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } & (1 << 62 - 1) | 1 << 62 }

        #if os(Linux)
        #if canImport(Musl)
        private static let locks = RLIMIT_LOCKS
        #else
        private static let locks = __rlimit_resource_t(__RLIMIT_LOCKS.rawValue)
        #endif

        /// Sets the limit for this process and everything that it starts from now on. Returns false, and
        /// changes nothing, where the process may not have it.
        @discardableResult
        func setLimit() -> Bool {
            var limits = rlimit()
            guard unsafe getrlimit(Self.locks, &limits) == 0, limits.rlim_max >= limit else { return false }
            // Not the hard limit, which a server within a server could not set to its own mark.
            limits.rlim_cur = rlim_t(limit)
            return unsafe setrlimit(Self.locks, &limits) == 0
        }

        /// Whether this process has the limit.
        var isOwnLimit: Bool {
            var limits = rlimit()
            return unsafe getrlimit(Self.locks, &limits) == 0 && limits.rlim_cur == limit
        }
        #endif
    }

    /// The number of consecutive scans without a match after which none is left: a command whose starter was
    /// killed receives its environment within microseconds, and one that flees is seldom missed so often.
    private static let quietLooks = 4
    /// The pause between two scans of the system's processes, in milliseconds.
    private static let pause: Int32 = 5

    /// Kills the groups and, on Linux, every process that has the mark, until several consecutive scans find
    /// none. Returns false when they did so to the end: a process that hangs in the kernel stays until the
    /// kernel releases it.
    ///
    /// The mark finds processes that have left their group, and those that were started but not yet
    /// announced. The environment of another user's process is not readable, and only root can kill it. On
    /// other systems only the groups are killed.
    ///
    /// - Parameters:
    ///   - time: the longest time that it takes.
    ///   - helper: a process that is left alone, besides this one.
    @discardableResult
    static func kill(
        groups: some Sequence<Int32>, mark: Mark, within time: Duration,
        except helper: Int32? = nil
    ) -> Bool {
        for group in groups { killGroup(group) }
        #if os(Linux)
        // A process that has the limit itself passes it on, and only such a process does.
        let limit = mark.isOwnLimit ? mark.limit : nil
        let search = MarkSearch(mark, limit, except: [getpid(), helper ?? 0])
        let end = SystemClock().now + time
        var calm = 0
        repeat {
            let start = SystemClock().now
            let found = search.killAll(until: end)
            // Only the chase finds what starts and ends faster than a scan.
            let trail = search.chase(calmFor: max(.milliseconds(2), (SystemClock().now - start) * 2))
            calm = found || trail != .none ? 0 : calm + 1
            if calm >= quietLooks { return true }
            if trail == .none { wait(milliseconds: pause) }
        } while SystemClock().now < end
        return false
        #else
        return true
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

    private static func signalGroup(_ group: Int32) { _ = sysKill(-group, SIGKILL) }
}

/// Calls `kill` of the C library, which the method above hides.
private func sysKill(_ process: Int32, _ number: Int32) -> Int32 { kill(process, number) }
