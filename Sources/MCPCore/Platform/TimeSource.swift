package import Dispatch
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
package protocol TimeSource: Sendable {
    /// The time for deadlines.
    var now: MonotonicInstant { get }
    /// The date.
    var wallTime: WallTime { get }

    /// How long poll may wait for `deadline`, in its milliseconds: 0 when it has passed, -1 without end.
    func pollTimeout(until deadline: MonotonicInstant, now: MonotonicInstant) -> Int32

    /// Registers somebody who waits in poll and has to look at the clock again when it is moved.
    func onAdvance(_ wake: @escaping @Sendable () -> Void)

    /// Runs `body` on the queue once `instant` has come; at once when it has passed.
    func schedule(
        at instant: MonotonicInstant, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void)
}

/// The clocks of the operating system.
package struct SystemClock: TimeSource {
    /// The clocks of this system.
    package init() {}

    /// The monotonic clock.
    package var now: MonotonicInstant { MonotonicInstant(nanoseconds: Self.read(CLOCK_MONOTONIC)) }

    /// The wall clock.
    package var wallTime: WallTime { WallTime(nanosecondsSinceEpoch: Self.read(CLOCK_REALTIME)) }

    /// Rounded up to milliseconds.
    package func pollTimeout(until deadline: MonotonicInstant, now: MonotonicInstant) -> Int32 {
        if deadline == .never { return -1 }
        if deadline <= now { return 0 }
        let (distance, overflow) = deadline.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        if overflow { return .max }
        // Rounded up: waking before the deadline would spin through the last millisecond.
        return Int32(clamping: (distance - 1) / 1_000_000 + 1)
    }

    /// Nothing: nobody moves these clocks.
    package func onAdvance(_ wake: @escaping @Sendable () -> Void) {}

    /// Leaves the waiting to Dispatch.
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

/// A clock that stands still until somebody moves it.
final class ManualClock: TimeSource {
    private struct State {
        var now = MonotonicInstant(nanoseconds: 0)
        var wallTime: WallTime
        var waiters: [@Sendable () -> Void] = []
        var scheduled: [Work] = []
    }

    private struct Work {
        let instant: MonotonicInstant
        let queue: DispatchQueue
        let body: @Sendable () -> Void
    }

    private let state: Mutex<State>

    init(wallTime: WallTime = WallTime(nanosecondsSinceEpoch: 0)) {
        state = Mutex(State(wallTime: wallTime))
    }

    var now: MonotonicInstant { state.withLock { $0.now } }

    var wallTime: WallTime { state.withLock { $0.wallTime } }

    /// Moves both clocks on, lets everybody who waits look again and hands out the work that is due, the
    /// earliest first.
    func advance(by duration: Duration) {
        let (waiters, due) = state.withLock { state in
            state.now = state.now + duration
            state.wallTime = state.wallTime + duration
            let now = state.now
            let due = state.scheduled.filter { $0.instant <= now }.sorted { $0.instant < $1.instant }
            state.scheduled.removeAll { $0.instant <= now }
            return (state.waiters, due)
        }
        for wake in waiters { wake() }
        for work in due { work.queue.async(execute: work.body) }
    }

    /// Sets the wall clock alone, as an administrator would.
    func setWallTime(_ time: WallTime) { state.withLock { $0.wallTime = time } }

    func pollTimeout(until deadline: MonotonicInstant, now: MonotonicInstant) -> Int32 {
        deadline <= now ? 0 : -1
    }

    func onAdvance(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.waiters.append(wake) } }

    func schedule(
        at instant: MonotonicInstant, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
    ) {
        let isDue = state.withLock { state in
            if instant <= state.now { return true }
            state.scheduled.append(Work(instant: instant, queue: queue, body: body))
            return false
        }
        if isDue { queue.async(execute: body) }
    }

    /// How much work waits for the clock to be moved.
    var scheduledCount: Int { state.withLock { $0.scheduled.count } }
}
