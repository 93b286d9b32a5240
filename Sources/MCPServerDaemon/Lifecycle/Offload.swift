import Dispatch

/// Runs code that blocks on a thread of the system's pool, never on a connection's loop.
enum Offload {
    /// For code that is quick as long as the disk is.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
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
