import Dispatch
import Synchronization
package import Testing

/// Runs tests that block or compute for long on threads of their own, some at a time.
///
/// The shared pool has as many threads as the machine has processors: two such tests would keep all others from
/// running, whose time limits pass meanwhile.
package struct OwnThreads: TestTrait, SuiteTrait, TestScoping {
    /// As many at a time as do not spoil each other's time limits on a small machine.
    private static let places = Places(4)
    /// One for all, which lives as long as the process: the runtime keeps no executor alive.
    private static let executor = ThreadExecutor()

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        await Self.places.take()
        defer { Self.places.giveBack() }
        try await withTaskExecutorPreference(Self.executor) { try await function() }
    }
}

extension Trait where Self == OwnThreads {
    package static var ownThreads: Self { OwnThreads() }
}

/// Runs every job on a serial queue of its own: such a queue gets a thread at once, whoever else blocks.
private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        DispatchQueue(label: "test").async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// A number of places; who finds none waits without a thread.
private final class Places: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
