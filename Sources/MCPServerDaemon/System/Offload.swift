import Dispatch
import Synchronization

/// Runs blocking code on threads of the system's pool, never on a connection's loop.
enum Offload {
    /// The number of threads that such code may use at a time; the rest waits in line.
    static let maxThreads = 16
    /// Those for what looks through directories: reading a file never waits behind it.
    static let maxWalks = 8
    private static let reads = OffloadQueues("mcp.files", maxThreads - maxWalks)
    private static let walks = OffloadQueues("mcp.walks", maxWalks)

    /// Runs code that is as quick as the disk. It is left out if the caller is gone before its turn.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await run(on: reads, body)
    }

    /// Runs code that looks through directories, as `run` does.
    static func walk<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await run(on: walks, body)
    }

    private static func run<Value: Sendable>(
        on queues: OffloadQueues, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let isGone = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queues.add {
                    if isGone.isSet { return continuation.resume(throwing: CancellationError()) }
                    continuation.resume(with: Result(catching: body))
                }
            }
        } onCancel: {
            isGone.set()
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

/// What is set once, by any thread.
private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// A number of queues that take their work from one line: none has work that waits while another one is idle.
private final class OffloadQueues: Sendable {
    private struct State {
        var idle: [DispatchQueue]
        var waiting: [@Sendable () -> Void] = []
        /// The number of entries of `waiting` that have begun.
        var begun = 0

        mutating func next() -> (@Sendable () -> Void)? {
            guard begun < waiting.count else {
                (waiting, begun) = ([], 0)
                return nil
            }
            defer { begun += 1 }
            return waiting[begun]
        }
    }

    private let state: Mutex<State>

    init(_ label: String, _ count: Int) {
        state = Mutex(State(idle: (0 ..< count).map { DispatchQueue(label: "\(label).\($0)") }))
    }

    func add(_ work: @escaping @Sendable () -> Void) {
        let queue = state.withLock { state -> DispatchQueue? in
            if let queue = state.idle.popLast() { return queue }
            state.waiting.append(work)
            return nil
        }
        queue?.async { self.run(work, on: queue) }
    }

    private func run(_ work: @Sendable () -> Void, on queue: DispatchQueue?) {
        work()
        guard let queue else { return }
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            if let next = state.next() { return next }
            state.idle.append(queue)
            return nil
        }
        if let next { queue.async { self.run(next, on: queue) } }
    }
}
