import CMCPSystem

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The helper process of a `ProcessSupervisor`.
package enum SupervisorProgram {
    /// The name shown in process lists; the kernel keeps 15 bytes of it.
    package static let name = "mcp-supervisor"

    /// The time after which processes that flee are given up.
    private static let longestSweep = Duration.seconds(60)

    /// The path with which a process can start its own program again, even if the file has been replaced.
    package static var ownProgram: String {
        #if canImport(Darwin)
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        var size = UInt32(path.count)
        guard unsafe mcp_executable_path(&path, &size) == 0 else { return "" }
        return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
        "/proc/self/exe"
        #endif
    }

    /// Reads the mark from standard input, then process groups as they begin (positive) and end (negative).
    /// At the end of the input, kills those that have not ended, and returns.
    ///
    /// Returns false if standard input is not that of a helper; in that case nothing was done.
    package static func run() -> Bool {
        // A service manager sends SIGTERM to every process of a service that it stops.
        for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE] { signal(number, SIG_IGN) }
        #if os(Linux)
        _ = unsafe mcp_set_name(name)
        #endif
        guard let mark = try? read(ProcessSweep.Mark.byteCount), mark.count == ProcessSweep.Mark.byteCount
        else { return false }
        StartupPages.release()
        var groups: Set<Int32> = []
        // Records are written whole, so each read ends with one.
        while let bytes = try? readOnce(maxRecords * recordSize), !bytes.isEmpty {
            for start in stride(from: 0, through: bytes.count - recordSize, by: recordSize) {
                let record = bytes[start ..< start + recordSize]
                let number = Int32(
                    truncatingIfNeeded: record.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
                // The smallest number has no positive counterpart.
                if number > 0 { groups.insert(number) } else { groups.remove(0 &- number) }
            }
            pauseUnlessEnded()
        }
        ProcessSweep.kill(
            groups: groups, mark: ProcessSweep.Mark(mark), within: longestSweep)
        return true
    }

    private static let recordSize = 4
    /// The number of records that are read together: as many as a pipe holds.
    private static let maxRecords = 16_384
    /// The time for which records are collected, in milliseconds.
    private static let pause: Int32 = 100

    /// Lets records gather in the pipe: reading each one on its own would cost every command two changes of
    /// process. The end of the input, which is the end of the server, ends the pause.
    private static func pauseUnlessEnded() {
        var entry = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
        // Whatever comes of it, the next read tells.
        _ = unsafe poll(&entry, 1, pause)
    }

    /// Reads what there is, `count` bytes at most, waiting for the first; nothing at the end of the input.
    private static func readOnce(_ count: Int) throws(IOError) -> [UInt8] {
        var failure: IOError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(IOError) {
                let got = unsafe try Syscalls.read(STDIN_FILENO, into: UnsafeMutableRawBufferPointer(buffer))
                filled = got ?? 0
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Returns the record for a group, least significant byte first.
    static func record(_ group: Int32) -> [UInt8] {
        let bits = UInt32(bitPattern: group)
        return (0 ..< recordSize).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
    }

    /// Reads `count` bytes, or fewer at the end of the input.
    private static func read(_ count: Int) throws(IOError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(IOError) -> Int? in
                let rest = unsafe UnsafeMutableBufferPointer(rebasing: buffer[filled...])
                return unsafe try Syscalls.read(STDIN_FILENO, into: UnsafeMutableRawBufferPointer(rest))
            }
            guard let got, got > 0 else { break }
            filled += got
        }
        bytes.removeLast(count - filled)
        return bytes
    }
}
