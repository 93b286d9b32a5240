#if os(Linux)
import CMCPSystem

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The search for processes with a mark, in `/proc`.
struct MarkSearch {
    private let entry: [UInt8]
    private let limit: UInt64?
    private let spared: [Int32]

    /// The longest time that one chase takes.
    private static let longestChase = Duration.milliseconds(100)
    /// The number of the newest processes that a chase begins with, or looks at together.
    private static let window: Int32 = 64
    /// The number of processes that may have begun since the newest one was read.
    private static let ahead: Int32 = 8
    /// The number of processes that a chase may miss: a busy machine starts some.
    private static let maxMissed = 8

    /// - Parameter limit: the limit of file locks that marks a process, too; nil for none.
    init(_ mark: ProcessSweep.Mark, _ limit: UInt64?, except spared: [Int32]) {
        entry = Array("\(ProcessSweep.Mark.variable)=\(mark.value)".utf8)
        self.limit = limit
        self.spared = spared
    }

    /// Scans all processes once, at most until `end`, and kills those with the mark; returns false if there
    /// are none.
    func killAll(until end: MonotonicInstant) -> Bool {
        var found = false
        guard let directory = unsafe opendir("/proc") else { return false }
        defer { unsafe closedir(directory) }
        let clock = SystemClock()
        // There may be tens of thousands.
        while clock.now < end, let item = unsafe readdir(directory) {
            guard let process = unsafe Self.number(&item.pointee.d_name) else { continue }
            found = kill(process) || found
        }
        return found
    }

    /// What a chase has seen.
    enum Trail {
        /// Nothing with the mark has begun.
        case none
        /// Processes have begun that had ended before they could be looked at.
        case lost
        /// Something with the mark was killed.
        case found
    }

    /// Follows the processes that are being started and kills those with the mark. Ends when nothing is
    /// started for a while.
    ///
    /// A command of which every process starts another one and ends is always ahead of a scan, and its
    /// processes can live for less time than it takes to read a file of `/proc`.
    ///
    /// - Parameter calmTime: the time without a new process after which it ends: longer than a scan takes,
    ///   which then finds what lives as long.
    func chase(calmFor calmTime: Duration) -> Trail {
        let clock = SystemClock()
        let start = clock.now
        guard var seen = Self.newest else { return .none }
        var (change, missed, found) = (start, 0, false)
        for process in max(2, seen - Self.window) ... max(2, seen) { found = kill(process) || found }
        while clock.now - start < Self.longestChase, clock.now - change < calmTime {
            guard let newest = Self.newest else { break }
            if newest != seen { change = clock.now }
            // Numbers begin again at the end.
            if newest < seen { seen = newest - 1 }
            let first = max(2, seen + 1, newest - Self.window)
            missed += Int(first - max(2, seen + 1))
            // The next ones may have begun meanwhile.
            for process in first ... max(first, newest + Self.ahead) {
                switch look(at: process) {
                case .hadMark: found = true
                case .hasEnded where process <= newest: missed += 1
                case .hasEnded, .isOther: break
                }
            }
            seen = newest
        }
        return found ? .found : missed > Self.maxMissed ? .lost : .none
    }

    private enum Look { case hadMark, hasEnded, isOther }

    /// Looks at a process that may have just begun, and kills it if it has the mark. One that has ended
    /// since, and still waits for its parent, has shown where its kind is.
    private func look(at process: Int32) -> Look {
        guard let limit else { return kill(process) ? .hadMark : .isOther }
        // No file: the process would have ended before it is read.
        let own = mcp_lock_limit(process)
        if own == 0 { return .hasEnded }
        guard own == limit, process > 1 else { return kill(process) ? .hadMark : .isOther }
        // Threads have numbers, too.
        for one in spared where unsafe access("/proc/\(one)/task/\(process)", F_OK) == 0 { return .isOther }
        return signal(process, SIGKILL) == 0 ? .hadMark : .hasEnded
    }

    /// The number of the process that was started last.
    private static var newest: Int32? {
        let bytes = (try? Files.read("/proc/loadavg", maxBytes: 256)) ?? []
        return bytes.split(separator: 0x20).last.flatMap { last in
            Int32(String(decoding: last.prefix { $0 >= 0x30 && $0 <= 0x39 }, as: UTF8.self))
        }
    }

    /// Kills a process if it has the mark.
    private func kill(_ process: Int32) -> Bool {
        guard process > 1, !spared.contains(process), hasEntry(process) || hasLimit(process),
            // Threads have numbers, too: those of a process that is spared are spared.
            let leader = Self.leader(of: process), !spared.contains(leader)
        else { return false }
        // Its number cannot have been reused: the kernel would have had to go through all the others
        // first.
        return signal(process, SIGKILL) == 0
    }

    /// Whether a process has the variable; false for one that has ended or is not ours.
    private func hasEntry(_ process: Int32) -> Bool {
        let folder = "/proc/\(process)"
        guard let environment = Self.environment(folder) else { return false }
        guard environment.isEmpty else { return hasEntry(environment) }
        // The first thread can end before the others, and only they have the memory then.
        guard Self.isEnded(folder) else { return false }
        return Self.threads(of: process).contains { Self.environment($0).map(hasEntry) ?? false }
    }

    private func hasEntry(_ environment: [UInt8]) -> Bool {
        environment.split(separator: 0).contains { $0.elementsEqual(entry) }
    }

    /// Returns the environment of a process or a thread, which is empty for one that has ended; nil for one
    /// that is not ours.
    private static func environment(_ folder: String) -> [UInt8]? {
        do throws(IOError) {
            return try Files.read("\(folder)/environ", maxBytes: 4 << 20)
        } catch {
            return error.errno == EACCES ? nil : []
        }
    }

    /// Returns the folders of a process's threads.
    private static func threads(of process: Int32) -> [String] {
        let folder = "/proc/\(process)/task"
        return ((try? Files.names(in: folder).names) ?? []).map { "\(folder)/\($0)" }
    }

    /// Whether a process or a thread has ended, and waits for its parent.
    private static func isEnded(_ folder: String) -> Bool {
        let status = (try? Files.read("\(folder)/stat", maxBytes: 4 << 10)) ?? []
        // Behind the name, which may contain anything, and is in brackets.
        let rest = status.lastIndex(of: 0x29).map { status[($0 + 1)...] } ?? []
        return rest.starts(with: " Z ".utf8)
    }

    /// Whether a process that has not ended has the limit of file locks.
    private func hasLimit(_ process: Int32) -> Bool {
        guard let limit, Self.lockLimit(of: process) == limit else { return false }
        // A zombie cannot be killed, and is left to the code that waits for it.
        return !Self.isEnded("/proc/\(process)") || Self.threads(of: process).contains { !Self.isEnded($0) }
    }

    /// Returns the limit of file locks of a process; nil for one that has ended.
    private static func lockLimit(of process: Int32) -> UInt64? {
        let limit = mcp_lock_limit(process)
        guard limit == UInt64(MCP_LOCK_LIMIT_HIDDEN) else { return limit }
        // Everyone may read the file, also that of a process with another user or group.
        let bytes = (try? Files.read("/proc/\(process)/limits", maxBytes: 8 << 10)) ?? []
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("Max file locks") }
        return line?.split(separator: " ").dropFirst(3).first.flatMap { UInt64($0) }
    }

    /// Returns the process of a thread; nil when it has ended.
    private static func leader(of thread: Int32) -> Int32? {
        let status = (try? Files.read("/proc/\(thread)/status", maxBytes: 8 << 10)) ?? []
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("Tgid:") }?.split(separator: "\t").last.flatMap { Int32($0) }
    }

    /// Returns the number that a NUL-terminated name consists of.
    private static func number<Name>(_ name: inout Name) -> Int32? {
        unsafe withUnsafeBytes(of: &name) { bytes in
            let digits = unsafe bytes.prefix { $0 != 0 }
            return unsafe Int32(String(decoding: digits, as: UTF8.self))
        }
    }
}

/// Calls `kill` of the C library, which the method above hides.
private func signal(_ process: Int32, _ number: Int32) -> Int32 { kill(process, number) }
#endif
