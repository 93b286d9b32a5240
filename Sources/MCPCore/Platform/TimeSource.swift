import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Where the time comes from: the system, or a clock that a test moves by hand.
///
/// Deadlines use `now`; only dates that leave the process (logs, token expiry) use `wallTime`.
protocol TimeSource: Sendable {
    var now: MonotonicInstant { get }
    var wallTime: WallTime { get }

    /// How long poll may wait for `deadline`, in its milliseconds: 0 when it has passed, -1 without end.
    func pollTimeout(until deadline: MonotonicInstant, now: MonotonicInstant) -> Int32

    /// Registers somebody who waits in poll and has to look at the clock again when it is moved.
    func onAdvance(_ wake: @escaping @Sendable () -> Void)
}

/// The clocks of the operating system.
struct SystemClock: TimeSource {
    var now: MonotonicInstant { MonotonicInstant(nanoseconds: Self.read(CLOCK_MONOTONIC)) }

    var wallTime: WallTime { WallTime(nanosecondsSinceEpoch: Self.read(CLOCK_REALTIME)) }

    func pollTimeout(until deadline: MonotonicInstant, now: MonotonicInstant) -> Int32 {
        if deadline == .never { return -1 }
        if deadline <= now { return 0 }
        let (distance, overflow) = deadline.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        if overflow { return .max }
        // Rounded up: waking before the deadline would spin through the last millisecond.
        return Int32(clamping: (distance - 1) / 1_000_000 + 1)
    }

    func onAdvance(_ wake: @escaping @Sendable () -> Void) {}

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

/// A clock that stands still until somebody moves it.
final class ManualClock: TimeSource {
    private struct State {
        var now = MonotonicInstant(nanoseconds: 0)
        var wallTime: WallTime
        var waiters: [@Sendable () -> Void] = []
    }

    private let state: Mutex<State>

    init(wallTime: WallTime = WallTime(nanosecondsSinceEpoch: 0)) {
        state = Mutex(State(wallTime: wallTime))
    }

    var now: MonotonicInstant { state.withLock { $0.now } }

    var wallTime: WallTime { state.withLock { $0.wallTime } }

    /// Moves both clocks on and lets everybody who waits look again.
    func advance(by duration: Duration) {
        let waiters = state.withLock { state in
            state.now = state.now + duration
            state.wallTime = state.wallTime + duration
            return state.waiters
        }
        for wake in waiters { wake() }
    }

    /// Sets the wall clock alone, as an administrator would.
    func setWallTime(_ time: WallTime) { state.withLock { $0.wallTime = time } }

    func pollTimeout(until deadline: MonotonicInstant, now: MonotonicInstant) -> Int32 {
        deadline <= now ? 0 : -1
    }

    func onAdvance(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.waiters.append(wake) } }
}
