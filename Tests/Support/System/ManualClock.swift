package import Dispatch
import Synchronization

@testable package import MCPCore

/// A clock that stands still until somebody moves it.
package final class ManualClock: TimeSource {
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

    package init(wallTime: WallTime = WallTime(nanosecondsSinceEpoch: 0)) {
        state = Mutex(State(wallTime: wallTime))
    }

    package var now: MonotonicInstant { state.withLock { $0.now } }

    package var wallTime: WallTime { state.withLock { $0.wallTime } }

    /// Moves both clocks on, lets everybody who waits look again and hands out the work that is due, the
    /// earliest first.
    package func advance(by duration: Duration) {
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
    package func setWallTime(_ time: WallTime) { state.withLock { $0.wallTime = time } }

    package func pollTimeout(until deadline: MonotonicInstant, now: MonotonicInstant) -> Int32 {
        deadline <= now ? 0 : -1
    }

    package func onAdvance(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiters.append(wake) }
    }

    package func schedule(
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
    package var scheduledCount: Int { state.withLock { $0.scheduled.count } }
}
