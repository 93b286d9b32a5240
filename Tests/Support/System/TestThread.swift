#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A thread of its own for what blocks: those of Dispatch are few, and what is tested needs them.
package enum TestThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    package static func run(_ body: @escaping @Sendable () -> Void) {
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        #if canImport(Darwin)
        var thread: pthread_t?
        let failed = unsafe pthread_create(
            &thread, nil,
            { work in
                unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
                return nil
            }, work)
        guard let thread else { fatalError("no thread: \(failed)") }
        #else
        var thread = pthread_t()
        let failed = unsafe pthread_create(
            &thread, nil,
            { work in
                if let work = unsafe work {
                    unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
                }
                return nil
            }, work)
        precondition(failed == 0, "no thread: \(failed)")
        #endif
        pthread_detach(thread)
    }
}

/// Runs blocking code on a thread of its own.
package func onThread<T: Sendable, E: Error>(
    _ body: @escaping @Sendable () throws(E) -> T
) async throws(E) -> T {
    try await withCheckedContinuation { continuation in
        TestThread.run { continuation.resume(returning: Result(catching: body)) }
    }.get()
}
