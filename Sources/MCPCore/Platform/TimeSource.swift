package import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The source of the time: the system, or a clock that a test moves by hand.
///
/// Deadlines use `now`; only dates that leave the process (logs, token expiry) use `wallTime`.
package protocol TimeSource: Sendable {
    /// The time for deadlines.
    var now: MonotonicInstant { get }
    /// The date and time.
    var wallTime: WallTime { get }

    /// Returns how long poll may wait for `deadline`, in milliseconds: 0 when it has passed, -1 for no limit.
    func pollTimeout(until deadline: MonotonicInstant, now: MonotonicInstant) -> Int32

    /// Registers a closure that wakes a thread waiting in poll, which has to check the clock again when it is
    /// moved.
    func onAdvance(_ wake: @escaping @Sendable () -> Void)

    /// Runs `body` on the queue at `instant`, or immediately if that has passed.
    func schedule(
        at instant: MonotonicInstant, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void)
}

/// The clocks of the operating system.
package struct SystemClock: TimeSource {
    /// Creates a source that reads the clocks of this system.
    package init() {}

    /// The monotonic clock.
    package var now: MonotonicInstant { MonotonicInstant(nanoseconds: Self.read(CLOCK_MONOTONIC)) }

    /// The wall clock.
    package var wallTime: WallTime { WallTime(nanosecondsSinceEpoch: Self.read(CLOCK_REALTIME)) }

    /// Returns the time until `deadline`, rounded up to milliseconds.
    package func pollTimeout(until deadline: MonotonicInstant, now: MonotonicInstant) -> Int32 {
        if deadline == .never { return -1 }
        if deadline <= now { return 0 }
        let (distance, overflow) = deadline.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        if overflow { return .max }
        // Rounded up: waking before the deadline would spin through the last millisecond.
        return Int32(clamping: (distance - 1) / 1_000_000 + 1)
    }

    /// Does nothing, because these clocks are not moved by hand.
    package func onAdvance(_ wake: @escaping @Sendable () -> Void) {}

    /// Schedules `body` with Dispatch.
    package func schedule(
        at instant: MonotonicInstant, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
    ) {
        let (delay, overflow) = instant.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        let nanoseconds = overflow ? Int.max : max(0, Int(clamping: delay))
        queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: body)
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

#if canImport(Darwin) || MCP_KQUEUE
extension timespec {
    init(milliseconds: Int) {
        self.init()
        tv_sec = milliseconds / 1_000
        tv_nsec = milliseconds % 1_000 * 1_000_000
    }
}
#endif
