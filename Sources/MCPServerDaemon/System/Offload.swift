import Dispatch
import MCPCore
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
    ///
    /// - Throws: what the code throws, `CancellationError`, or `MCPError` 503 when too much waits already.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await run(on: reads, body)
    }

    /// Runs code that looks through directories, as `run` does.
    static func walk<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await run(on: walks, body)
    }

    static func run<Value: Sendable>(
        on queues: OffloadQueues, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let id = queues.makeID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let entry = OffloadQueues.Entry(
                    id: id, run: { continuation.resume(with: Result(catching: body)) },
                    refuse: { continuation.resume(throwing: $0) })
                queues.add(entry)
            }
        } onCancel: {
            queues.giveUp(id)
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

/// A number of queues that take their work from one line: none has work that waits while another one is idle.
final class OffloadQueues: Sendable {
    /// The work that may wait in line; further work is refused.
    static let maxWaiting = 1_024

    /// Work, of which either `run` or `refuse` is called, once.
    struct Entry: Sendable {
        let id: Int
        let run: @Sendable () -> Void
        let refuse: @Sendable (any Error) -> Void
    }

    private struct State {
        var idle: [DispatchQueue]
        var lastID = 0
        /// What has not begun.
        var waiting: [Entry] = []
    }

    private let state: Mutex<State>

    init(_ label: String, _ count: Int) {
        state = Mutex(State(idle: (0 ..< count).map { DispatchQueue(label: "\(label).\($0)") }))
    }

    /// The number of entries that wait.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Makes the number under which an entry is added, and may be given up.
    func makeID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Adds work of the current task. It is refused when the task is cancelled before its turn.
    func add(_ entry: Entry) {
        let (queue, error) = state.withLock { state -> (DispatchQueue?, (any Error)?) in
            // The task was cancelled before it got here: nobody would give it up.
            if Task.isCancelled { return (nil, CancellationError()) }
            if let queue = state.idle.popLast() { return (queue, nil) }
            guard state.waiting.count < Self.maxWaiting else {
                let text = "Too many requests wait for files; try again later"
                return (nil, MCPError(code: MCPError.overloadedCode, message: text))
            }
            state.waiting.append(entry)
            return (nil, nil)
        }
        if let error { return entry.refuse(error) }
        queue?.async { self.run(entry, on: queue) }
    }

    /// Takes an entry whose caller is gone out of the line.
    func giveUp(_ id: Int) {
        let entry = state.withLock { state -> Entry? in
            state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
        }
        entry?.refuse(CancellationError())
    }

    private func run(_ entry: Entry, on queue: DispatchQueue?) {
        entry.run()
        guard let queue else { return }
        let next = state.withLock { state -> Entry? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.idle.append(queue)
            return nil
        }
        if let next { queue.async { self.run(next, on: queue) } }
    }
}
