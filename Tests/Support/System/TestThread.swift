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

    /// - Parameter stackBytes: The size of its stack; nil for that of the system.
    package static func run(stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        if let stackBytes {
            let failed = unsafe pthread_attr_setstacksize(&attributes, stackBytes)
            precondition(failed == 0, "no stack of \(stackBytes) bytes: \(failed)")
        }
        #if canImport(Darwin)
        var thread: pthread_t?
        let failed = unsafe pthread_create(
            &thread, &attributes,
            { work in
                unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
                return nil
            }, work)
        guard let thread = unsafe thread else { fatalError("no thread: \(failed)") }
        unsafe pthread_detach(thread)
        #else
        var thread = pthread_t()
        let failed = unsafe pthread_create(
            &thread, &attributes,
            { work in
                if let work = unsafe work {
                    unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
                }
                return nil
            }, work)
        precondition(failed == 0, "no thread: \(failed)")
        pthread_detach(thread)
        #endif
    }
}

/// Runs blocking code on a thread of its own.
package func onThread<T: Sendable, E: Error>(
    stackBytes: Int? = nil, _ body: @escaping @Sendable () throws(E) -> T
) async throws(E) -> T {
    try await withCheckedContinuation { continuation in
        TestThread.run(stackBytes: stackBytes) { continuation.resume(returning: Result(catching: body)) }
    }.get()
}
