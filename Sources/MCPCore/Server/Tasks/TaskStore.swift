import Synchronization

/// The tasks that a server keeps for the lifetime of the process.
final class TaskStore: Sendable {
    private struct Kept {
        let task: ServerTask
        /// The number of the task among all that were kept.
        let number: UInt64
    }

    private struct State {
        var kept: [String: Kept] = [:]
        var counts: [String: Int] = [:]
        var last: UInt64 = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Stores a task. Returns false when the store is full, or the caller has its share.
    func insert(_ task: ServerTask) -> Bool {
        state.withLock { state in
            let own = state.counts[task.principal, default: 0]
            guard state.kept.count < limit, own < TaskOptions.share(of: limit, for: task.principal) else {
                return false
            }
            state.last += 1
            state.kept[task.id] = Kept(task: task, number: state.last)
            state.counts[task.principal] = own + 1
            return true
        }
    }

    func task(_ id: String) -> ServerTask? { state.withLock { $0.kept[id]?.task } }

    /// Forgets a task. Returns whether it was there.
    @discardableResult
    func remove(_ id: String) -> Bool {
        state.withLock { state in
            guard let kept = state.kept.removeValue(forKey: id) else { return false }
            let rest = state.counts[kept.task.principal, default: 0] - 1
            state.counts[kept.task.principal] = rest > 0 ? rest : nil
            return true
        }
    }

    var tasks: [ServerTask] { state.withLock { state in state.kept.values.map(\.task) } }

    // MARK: Making room

    /// Returns whether this caller can be given another place only in exchange for one of its own.
    func hasShare(_ principal: String) -> Bool {
        state.withLock { state in
            state.counts[principal, default: 0] >= TaskOptions.share(of: limit, for: principal)
        }
    }

    /// The number of tasks of each caller.
    var counts: [String: Int] { state.withLock { $0.counts } }

    /// Returns the finished task of a caller that may be forgotten first: one whose end its client has seen,
    /// then the oldest.
    ///
    /// - Parameter fits: whether it helps to forget the task.
    func finished(of principal: String, where fits: (ServerTask) -> Bool = { _ in true }) -> ServerTask? {
        first {
            $0.principal == principal && fits($0)
        } rank: { _ in
            0
        }
    }

    /// Returns the finished task that may be forgotten first for another caller: of the caller with the
    /// most.
    ///
    /// - Parameters:
    ///   - amounts: what each caller has.
    ///   - least: what the other caller would have; callers without more are left alone.
    func finished(
        ofOthers amounts: [String: Int], beyond least: Int,
        where fits: (ServerTask) -> Bool = { _ in true }
    ) -> ServerTask? {
        first {
            amounts[$0.principal, default: 0] > least && fits($0)
        } rank: {
            -amounts[$0.principal, default: 0]
        }
    }

    private func first(
        where fits: (ServerTask) -> Bool, rank: (ServerTask) -> Int
    ) -> ServerTask? {
        let all = state.withLock { Array($0.kept.values) }
        var best: (task: ServerTask, order: (Int, Int, UInt64))?
        for kept in all where kept.task.isOver && fits(kept.task) {
            let order = (rank(kept.task), kept.task.isEndSeen ? 0 : 1, kept.number)
            if best.map({ order < $0.order }) ?? true { best = (kept.task, order) }
        }
        return best?.task
    }
}
