import Synchronization

/// The tasks extension of one server: it opens tasks, finds them, and ends those that are late.
final class TaskManager: Sendable {
    let options: TaskOptions
    private let store: TaskStore
    private let clock: any TimeSource
    private let counters: ServerCounters
    private let alarm: Alarm
    private let changed: @Sendable (ServerTask) -> Void
    /// The handlers that work on tasks, including those of forgotten tasks.
    private let handlers: Mutex<FairUse>
    /// The bytes of the kept results.
    private let bytes: Mutex<FairUse>

    /// - Parameter changed: called after every change of a task that its client can see.
    init(
        options: TaskOptions, clock: any TimeSource, counters: ServerCounters,
        changed: @escaping @Sendable (ServerTask) -> Void
    ) {
        self.options = options
        self.clock = clock
        self.counters = counters
        self.changed = changed
        store = TaskStore(limit: max(1, options.maxTasks))
        handlers = Mutex(FairUse(limit: max(1, options.maxTasks)))
        bytes = Mutex(FairUse(limit: options.maxTotalBytes))
        alarm = Alarm(label: "mcp.tasks", clock: clock)
    }

    /// The number of tasks that are kept.
    var count: Int { store.tasks.count }
    /// The number of handlers that work on tasks.
    var handlersAtWork: Int { handlers.withLock { $0.total } }
    /// The size of the kept results in bytes.
    var resultBytes: Int { bytes.withLock { $0.total } }

    // MARK: Opening and finding

    /// Creates a task and keeps it (TASK-07).
    ///
    /// - Throws: `MCPError` 503 when there is no room.
    func open(
        for call: DeferredCall, principal: String, ttl: Duration?, pollInterval: Duration?,
        statusMessage: String?
    ) throws(MCPError) -> ServerTask {
        sweep()
        let hasRoom = handlers.withLock { $0.take(1, for: principal) == nil }
        let terms = ServerTask.Terms(
            ttl: Self.clamp(ttl ?? options.ttl, atMost: options.maxTTL),
            pollInterval: Self.clamp(pollInterval ?? options.pollInterval, atMost: options.maxTTL),
            deadline: options.deadline, statusMessage: statusMessage)
        let task = ServerTask(
            id: Base64URL.encode(SystemRandom().bytes(16)), principal: principal, terms: terms, clock: clock,
            call: call, changed: changed)
        guard hasRoom, insert(task) else {
            if hasRoom { handlers.withLock { $0.give(1, of: principal) } }
            throw MCPError(
                code: MCPError.overloadedCode, message: "The server keeps too many tasks; try again later")
        }
        counters.count(.tasks)
        watch(task)
        return task
    }

    /// Stores a task; finished ones make room for it. Returns false without room.
    private func insert(_ task: ServerTask) -> Bool {
        while !store.insert(task) {
            var other = store.finished(of: task.principal)
            if other == nil, !store.hasShare(task.principal) {
                let counts = store.counts
                other = store.finished(ofOthers: counts, beyond: counts[task.principal, default: 0] + 1)
            }
            guard let other else { return false }
            forget(other)
        }
        return true
    }

    private static func clamp(_ duration: Duration, atMost limit: Duration) -> Duration {
        min(max(duration, .milliseconds(1)), limit)
    }

    /// Returns the task with this id, if it belongs to the caller and has not been forgotten. A task of
    /// another caller is treated as nonexistent (TASK-21, TASK-23).
    func task(_ id: String, principal: String) -> ServerTask? {
        guard let task = store.task(id), task.principal == principal else { return nil }
        guard task.expiry > clock.now else {
            forget(task)
            return nil
        }
        return task
    }

    // MARK: Ending

    /// Ends a task with the value that its handler returned or the error that it threw.
    func end(_ task: ServerTask, with outcome: Result<CallToolResult, MCPError>, maxDepth: Int) {
        switch outcome {
        case .success(let result):
            var writer = JSONWriter()
            writer.maxDepth = maxDepth
            result.write(to: &writer, for: .newest)
            if writer.failure != nil {
                task.end(.error(.internalError("The result could not be encoded")), byHandler: true)
            } else {
                keep(RawJSON(unchecked: writer.finish()), in: task)
            }
        case .failure(let error): task.end(.error(error), byHandler: true)
        }
        handlerEnded(task)
    }

    private func keep(_ result: RawJSON, in task: ServerTask) {
        let size = result.bytes.count
        guard size <= options.resultLimit else {
            let text = "The result has \(size) bytes; a task keeps at most \(options.resultLimit)"
            task.end(.error(.internalError(text)), byHandler: true)
            return
        }
        guard takeBytes(size, for: task.principal) else {
            let text = "The server keeps too many results; this one was dropped"
            task.end(.error(MCPError(code: MCPError.overloadedCode, message: text)), byHandler: true)
            return
        }
        // Cancelled or forgotten in the meantime: the result has no owner.
        let isKept = task.end(.result(result), byHandler: true)
        if !isKept { bytes.withLock { $0.give(size, of: task.principal) } }
    }

    /// Takes room for a result; those of finished tasks make room. Returns false without room.
    private func takeBytes(_ size: Int, for principal: String) -> Bool {
        // Nothing is forgotten for what never fits.
        guard size <= TaskOptions.share(of: options.maxTotalBytes, for: principal) else { return false }
        while let lack = bytes.withLock({ $0.take(size, for: principal) }) {
            let hasResult = { (task: ServerTask) in task.resultBytes > 0 }
            var other = store.finished(of: principal, where: hasResult)
            if other == nil, lack == .all {
                let amounts = bytes.withLock { $0.amounts }
                let least = amounts[principal, default: 0] + size
                other = store.finished(ofOthers: amounts, beyond: least, where: hasResult)
            }
            guard let other else { return false }
            forget(other)
        }
        return true
    }

    /// Records that the handler of a task has returned.
    private func handlerEnded(_ task: ServerTask) {
        task.handlerEnded()
        handlers.withLock { $0.give(1, of: task.principal) }
    }

    /// Forgets a task that its client was never told about; its handler is about to end.
    func discard(_ task: ServerTask) {
        if store.remove(task.id) { task.end(.cancelled, byHandler: true) }
    }

    private func forget(_ task: ServerTask) {
        guard store.remove(task.id) else { return }
        task.end(.cancelled, byHandler: false)
        let size = task.resultBytes
        bytes.withLock { $0.give(size, of: task.principal) }
    }

    /// Fails every task that is still working, because the server stops.
    func failAll(_ text: String) {
        for task in store.tasks {
            task.end(.error(.interrupted(text)), byHandler: false)
        }
    }

    // MARK: Time

    private func watch(_ task: ServerTask) {
        wake(at: min(task.expiry, task.deadline))
    }

    private func wake(at moment: MonotonicInstant) {
        alarm.set(for: moment, waking: self) { $0.sweep() }
    }

    /// Forgets the tasks that have expired, ends those that are past their deadline, and sleeps until
    /// the next such time.
    func sweep() {
        let now = clock.now
        var next = MonotonicInstant.never
        for task in store.tasks {
            if task.expiry <= now {
                forget(task)
                continue
            }
            next = min(next, task.expiry)
            guard !task.isOver else { continue }
            if task.deadline <= now {
                let text = "The task took longer than the server allows and was cancelled"
                let error = MCPError(code: MCPError.deadlineExceededCode, message: text)
                if task.end(.error(error), byHandler: false) { counters.count(.deadlines) }
            } else {
                next = min(next, task.deadline)
            }
        }
        if next < .never { wake(at: next) }
    }
}
