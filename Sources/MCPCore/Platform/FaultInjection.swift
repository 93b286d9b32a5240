#if DEBUG
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Makes chosen system calls fail, in debug builds only: the torture tests fail the n-th call of a scenario
/// once.
enum FaultInjection {
    /// Returns the error number with which this call fails, or nil to let it happen. -1 stands for no
    /// descriptor.
    typealias Plan = @Sendable (_ function: String, _ fd: Int32) -> Int32?

    private static let isActive = Atomic<Bool>(false)
    private static let plan = Mutex<Plan?>(nil)

    /// Installs a plan, or removes it with nil. A plan concerns the whole process: let it look at the
    /// descriptor.
    static func install(_ newPlan: Plan?) {
        plan.withLock { $0 = newPlan }
        isActive.store(newPlan != nil, ordering: .releasing)
    }

    @inline(__always)
    static func errno(for function: StaticString, _ fd: Int32) -> Int32? {
        guard isActive.load(ordering: .acquiring) else { return nil }
        let current = plan.withLock { $0 }
        return current?("\(function)", fd)
    }
}
#endif
