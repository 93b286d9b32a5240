import Dispatch
import Synchronization

/// Runs code that blocks on a thread of the system's pool, never on a connection's loop.
enum Offload {
    /// Threads that such code takes at a time; the rest waits in line.
    static let maxThreads = 16
    private static let queues = (0 ..< maxThreads).map { DispatchQueue(label: "mcp.files.\($0)") }
    private static let next = Atomic<UInt>(0)

    /// For code that is quick as long as the disk is.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
            let queue = queues[Int(number % UInt(maxThreads))]
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// For code that waits for long: on a queue of its own, because the global one has few threads, and files
    /// and signals would wait with it.
    static func runLong<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "mcp.command").async { continuation.resume(with: Result(catching: body)) }
        }
    }
}
