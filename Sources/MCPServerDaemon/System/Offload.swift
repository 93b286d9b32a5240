import Dispatch
import Synchronization

/// Runs blocking code on threads of the system's pool, never on a connection's loop.
enum Offload {
    /// The number of threads that such code may use at a time; the rest waits in line.
    static let maxThreads = 16
    private static let queues = (0 ..< maxThreads).map { DispatchQueue(label: "mcp.files.\($0)") }
    private static let next = Atomic<UInt>(0)

    /// Runs code that is as quick as the disk.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
            let queue = queues[Int(number % UInt(maxThreads))]
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Runs code that takes a long time.
    ///
    /// It runs on a queue of its own: the global one has few threads, and files and signals would have to
    /// wait, too.
    static func runLong<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "mcp.command").async { continuation.resume(with: Result(catching: body)) }
        }
    }
}
