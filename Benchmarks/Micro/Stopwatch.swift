#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Measures what a piece of work costs in processor time, and prints one row of the table.
///
/// The time of the calling thread counts, not that of the clock on the wall, and the median of nine rounds: what
/// else runs on the machine hardly matters.
enum Stopwatch {
    private static let rounds = 9
    private static let roundNanoseconds = 20_000_000.0

    /// - Parameter bytes: how much the work reads or writes, for a rate beside the time.
    static func row(_ name: String, bytes: Int? = nil, _ work: () throws -> Void) rethrows {
        let nanoseconds = try measure(work)
        var line = name.padded(to: 44) + decimal(nanoseconds).padded(to: 12, left: true) + " ns"
        if let bytes {
            line += decimal(Double(bytes) / nanoseconds * 1000).padded(to: 10, left: true) + " MB/s"
        }
        print(line)
    }

    /// Nanoseconds of one execution.
    static func measure(_ work: () throws -> Void) rethrows -> Double {
        var count = 1
        while true {
            let time = try time(count, work)
            if time > roundNanoseconds / 4 { break }
            count *= 2
        }
        var times: [Double] = []
        for _ in 0 ..< rounds { times.append(try time(count * 2, work) / Double(count * 2)) }
        return times.sorted()[rounds / 2]
    }

    private static func time(_ count: Int, _ work: () throws -> Void) rethrows -> Double {
        let start = now
        for _ in 0 ..< count { try work() }
        return Double(now - start)
    }

    private static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func decimal(_ value: Double) -> String {
        if value >= 100 { return String(Int(value.rounded())) }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// Keeps the optimizer from leaving work out whose result nobody uses.
@inline(never) func keep<T>(_ value: T) { withExtendedLifetime(value) {} }

extension String {
    fileprivate func padded(to width: Int, left: Bool = false) -> String {
        let blanks = String(repeating: " ", count: Swift.max(0, width - count))
        return left ? blanks + self : self + blanks
    }
}
