import Synchronization

/// The tasks that a server keeps for the lifetime of the process.
final class TaskStore: Sendable {
    private let limit: Int
    private let kept = Mutex<[String: ServerTask]>([:])

    init(limit: Int) { self.limit = limit }

    /// Stores a task. Returns false when the store is full.
    func insert(_ task: ServerTask) -> Bool {
        kept.withLock { kept in
            guard kept.count < limit else { return false }
            kept[task.id] = task
            return true
        }
    }

    func task(_ id: String) -> ServerTask? { kept.withLock { $0[id] } }

    /// Forgets a task. Returns whether it was there.
    @discardableResult
    func remove(_ id: String) -> Bool { kept.withLock { $0.removeValue(forKey: id) } != nil }

    var tasks: [ServerTask] { kept.withLock { Array($0.values) } }
}
