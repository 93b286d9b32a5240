import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The process in figures, with the names that Prometheus clients use.
struct ProcessFigures: Sendable {
    /// The processor time in nanoseconds.
    var cpuNanoseconds: Int64 = 0
    /// Nil where the system does not tell.
    var residentBytes: Int?
    var openFiles: Int?
    var maxOpenFiles: Int?

    static var current: ProcessFigures {
        var figures = ProcessFigures()
        var time = timespec()
        if unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 {
            figures.cpuNanoseconds = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        }
        #if os(Linux)
        // Without /proc, as in some containers, the figures are left out.
        if let text = try? Files.read("/proc/self/statm", maxBytes: 256) {
            let parts = String(decoding: text, as: UTF8.self).split(separator: " ")
            figures.residentBytes = parts.count > 1 ? Int(parts[1]).map { $0 &* Int(getpagesize()) } : nil
        }
        // One of them is that of the listing.
        figures.openFiles = (try? Files.names(in: "/proc/self/fd"))?.names.count
        #endif
        figures.maxOpenFiles = OpenFileLimit.current
        return figures
    }
}

extension MetricsText {
    mutating func write(_ process: ProcessFigures, startedAt: WallTime) {
        single(
            "process_cpu_seconds_total", .counter, "The processor time of the server, commands excluded.",
            Self.seconds(process.cpuNanoseconds))
        if let bytes = process.residentBytes {
            single("process_resident_memory_bytes", .gauge, "The resident memory.", bytes)
        }
        if let files = process.openFiles { single("process_open_fds", .gauge, "The open files.", files) }
        if let files = process.maxOpenFiles {
            single("process_max_fds", .gauge, "The most files that may be open.", files)
        }
        single(
            "process_start_time_seconds", .gauge, "The time of the start, in seconds since 1970.",
            Self.seconds(startedAt.nanosecondsSinceEpoch))
    }
}
