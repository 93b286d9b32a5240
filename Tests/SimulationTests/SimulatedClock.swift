import Dispatch
import MCPCore
import TestSupport

/// A clock whose scheduled work is done by whoever moves it, in its thread and before `advance` returns: no
/// work of a schedule happens at a moment that the seed did not choose.
// SAFETY: a world and everything in it is used by one thread only.
final class SimulatedClock: TimeSource, @unchecked Sendable {
    private typealias Work = (instant: MonotonicInstant, body: @Sendable () -> Void)

    private let times = ManualClock()
    private var scheduled: [Work] = []

    var now: MonotonicInstant { times.now }
    var wallTime: WallTime { times.wallTime }

    /// Moves the clock on and does what is due, the earliest first, also what that schedules.
    func advance(by duration: Duration) {
        times.advance(by: duration)
        while let place = scheduled.indices.min(by: { scheduled[$0].instant < scheduled[$1].instant }),
            scheduled[place].instant <= now
        {
            scheduled.remove(at: place).body()
        }
    }

    func pollTimeout(until deadline: MonotonicInstant, now: MonotonicInstant) -> Int32 {
        times.pollTimeout(until: deadline, now: now)
    }

    func onAdvance(_ wake: @escaping @Sendable () -> Void) { times.onAdvance(wake) }

    /// Keeps `body` until the clock is moved, also when `instant` has passed: nothing happens within a step
    /// that did not ask for it.
    func schedule(
        at instant: MonotonicInstant, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
    ) {
        scheduled.append((instant, body))
    }
}
