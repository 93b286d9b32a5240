#if DEBUG
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Injected failures of chosen system calls, in debug builds only.
///
/// The torture tests make the n-th call of a scenario fail once.
enum FaultInjection {
    /// A closure that returns the error number with which this call fails, or nil to let the call happen. A
    /// descriptor of -1 means that there is none.
    typealias Plan = @Sendable (_ function: String, _ fd: Int32) -> Int32?

    private struct Queue {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let isActive = Atomic<Bool>(false)
    private static let plan = Callback<Plan>()
    private static let queue = Mutex(Queue())

    /// Runs `body` with a plan in force.
    ///
    /// Only one plan can be in force at a time, because it affects the whole process, so callers run one
    /// after another. A plan should check the descriptor or the thread.
    static func during<T>(
        _ newPlan: @escaping Plan, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> T
    ) async rethrows -> T {
        await enter()
        defer { leave() }
        install(newPlan)
        defer { install(nil) }
        return try await body()
    }

    private static func install(_ newPlan: Plan?) {
        plan.set(newPlan)
        isActive.store(newPlan != nil, ordering: .releasing)
    }

    private static func enter() async {
        await withCheckedContinuation { continuation in
            let mayGo = queue.withLock { queue in
                if queue.isTaken { queue.waiting.append(continuation) }
                defer { queue.isTaken = true }
                return !queue.isTaken
            }
            if mayGo { continuation.resume() }
        }
    }

    private static func leave() {
        let next = queue.withLock { queue in
            if queue.waiting.isEmpty {
                queue.isTaken = false
                return nil as CheckedContinuation<Void, Never>?
            }
            return queue.waiting.removeFirst()
        }
        next?.resume()
    }

    @inline(__always)
    static func errno(for function: StaticString, _ fd: Int32) -> Int32? {
        guard isActive.load(ordering: .acquiring) else { return nil }
        return plan.current?("\(function)", fd)
    }
}
#endif
