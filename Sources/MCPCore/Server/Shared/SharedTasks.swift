import Synchronization

/// The tasks of all instances of a server, in the store that they share.
///
/// The instance that works on a task stores it after each change, sealed with the server's key. Another
/// instance answers with what is stored, and leaves cancellations and answers in the store, where the first
/// one looks for them. A lease in the store tells that an instance lives: a task whose instance has ended
/// has failed.
final class SharedTasks: Sendable {
    /// The largest task that is stored, in bytes of JSON. Of a larger one, only its size is.
    static let maxBytes = 48 << 10
    /// The interval at which an instance with unfinished tasks looks into the store.
    static let interval = InstanceLease.interval
    /// The time for which answers, and a cancellation, wait for the instance.
    static let patience = Duration.seconds(60)
    /// The time after a failure of the store in which a task that is not in it may not have been stored yet:
    /// twice the longest pause before an instance connects again.
    static let doubt = Duration.seconds(10)

    /// What is known about a task of another instance.
    enum Found: Sendable {
        case task(JSONObject)
        /// Its size in bytes.
        case tooLarge(Int)
        case unknown
        /// The store cannot be asked, or the task may not be in it yet.
        case away
    }

    private struct State {
        /// The tasks of this instance that have not ended.
        var working: [String: ServerTask] = [:]
        /// The tasks that are being stored, and whether they have changed since.
        var writing: [String: Bool] = [:]
        /// The tasks whose last change could not be stored.
        var unwritten: [String: ServerTask] = [:]
        /// The time at which the store failed last.
        var failure: MonotonicInstant?
    }

    private let shared: SharedState
    private let keys: StateKeys
    private let clock: any TimeSource
    private let alarm: Alarm
    private let state = Mutex(State())

    init(_ shared: SharedState, keys: StateKeys, clock: any TimeSource) {
        self.shared = shared
        self.keys = keys
        self.clock = clock
        alarm = Alarm(label: "mcp.tasks.shared", clock: clock)
    }

    // MARK: Tasks of this instance

    /// Stores a new task, before its client knows of it.
    func begin(_ task: ServerTask) async {
        state.withLock { state in
            state.working[task.id] = task
            state.writing[task.id] = false
        }
        if task.isOver { changed(task) }
        await renew()
        await write(task)
        wake()
    }

    /// Stores a task of this instance again, soon.
    func changed(_ task: ServerTask) {
        let isOver = task.isOver
        let begins = state.withLock { state -> Bool in
            guard state.working[task.id] != nil else { return false }
            if isOver { state.working[task.id] = nil }
            defer { state.writing[task.id] = state.writing[task.id] != nil }
            return state.writing[task.id] == nil
        }
        if begins { Task { await write(task) } }
    }

    /// Stores a task until what is stored is what it is, or the store fails. Returns false if it failed.
    @discardableResult
    private func write(_ task: ServerTask) async -> Bool {
        while true {
            let sealed = keys.seal(record(of: task), Self.context("task", task.id))
            let rest = max(task.expiry - clock.now, .milliseconds(1))
            let isDone =
                await attempt("other instances do not know the state of a task") { store in
                    try await store.set(sealed, for: "task:\(task.id)", lifetime: rest)
                    return true
                } ?? false
            let isStale = state.withLock { state in
                state.unwritten[task.id] = isDone ? nil : task
                let isStale = isDone && state.writing[task.id] == true
                state.writing[task.id] = isStale ? false : nil
                return isStale
            }
            if !isDone { wake() }
            if !isStale { return isDone }
        }
    }

    /// Stores the tasks that could not be stored, until the store fails again.
    private func writeAgain() async {
        let unwritten = state.withLock { state in
            state.unwritten = state.unwritten.filter { $0.value.expiry > clock.now }
            return Array(state.unwritten.values)
        }
        for task in unwritten {
            let begins = state.withLock { state -> Bool in
                // A change is being stored.
                guard state.unwritten[task.id] != nil, state.writing[task.id] == nil else { return false }
                state.writing[task.id] = false
                return true
            }
            guard begins else { continue }
            guard await write(task) else { return }
        }
    }

    /// Uses the store, and remembers when that failed.
    private func attempt<Value: Sendable>(
        _ consequence: String, _ body: (any StateStore) async throws -> Value
    ) async -> Value? {
        let value = await shared.attempt(consequence, body)
        if value == nil { state.withLock { $0.failure = clock.now } }
        return value
    }

    /// Whether the store has failed so recently that tasks may not have been stored yet.
    private var hasJustFailed: Bool {
        state.withLock { state in state.failure.map { clock.now - $0 < Self.doubt } ?? false }
    }

    private func record(of task: ServerTask) -> [UInt8] {
        let json = task.json
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("instance", shared.lease.instance)
        writer.member("principal", Self.hash(task.principal))
        if json.bytes.count <= Self.maxBytes {
            writer.member("task", json)
        } else {
            writer.member("bytes", json.bytes.count)
        }
        writer.endObject()
        return Array(writer.finish())
    }

    private func renew() async {
        await shared.attempt("the tasks of this instance may look failed at others") { [shared] store in
            try await shared.lease.renew(in: store)
        }
    }

    /// Looks into the store in a while, as long as there are unfinished tasks, or some to be stored.
    private func wake() {
        guard state.withLock({ !$0.working.isEmpty || !$0.unwritten.isEmpty }) else { return }
        alarm.set(for: clock.now + Self.interval, waking: self) { shared in
            Task {
                await shared.look()
                shared.wake()
            }
        }
    }

    private func look() async {
        let (working, isEmpty) = state.withLock { state in
            (Array(state.working.values), state.working.isEmpty && state.unwritten.isEmpty)
        }
        guard !isEmpty else { return }
        await renew()
        await writeAgain()
        for task in working {
            if shared.isMark(await take("cancel", task.id), of: "cancel:\(task.id)") {
                task.end(.cancelled, byHandler: false)
            }
            guard task.state.withLock({ !$0.questions.isEmpty }), let sealed = await take("answer", task.id),
                let bytes = keys.open(sealed, Self.context("answer", task.id)),
                case .object(let answers)? = try? JSONValue(parsing: bytes)
            else { continue }
            // Checked by the instance that received them as far as it could; a question that is not answered
            // stays open.
            try? task.take(answers)
        }
    }

    /// Returns what another instance has left for a task, and removes it.
    private func take(_ kind: String, _ id: String) async -> [UInt8]? {
        await shared.attempt("cancellations and answers for tasks arrive later") { store in
            guard let value = try await store.value(for: "\(kind):\(id)") else { return nil }
            try await store.removeValue(for: "\(kind):\(id)")
            return value
        } ?? nil
    }

    // MARK: Tasks of other instances

    /// Whether a text can be the id of a task.
    static func isID(_ id: String) -> Bool {
        id.utf8.count == 22
            && id.utf8.allSatisfy { ASCII.isDigit($0) || ASCII.isLetter($0) || $0 == 0x2D || $0 == 0x5F }
    }

    /// Returns what is stored about a task that belongs to the caller.
    func find(_ id: String, principal: String) async -> Found {
        let found = await attempt("tasks of other instances are unknown") { [self] store -> Found in
            guard let sealed = try await store.value(for: "task:\(id)"),
                let bytes = keys.open(sealed, Self.context("task", id)),
                let record = try? JSONValue(parsing: bytes),
                record["principal"]?.stringValue == Self.hash(principal)
            else { return .unknown }
            guard case .object(var task)? = record["task"] else {
                return .tooLarge(record["bytes"]?.intValue ?? 0)
            }
            let status = task["status"]?.stringValue.flatMap(TaskStatus.init(rawValue:))
            let owner = record["instance"]?.stringValue ?? ""
            if status?.isTerminal == false, try await !shared.lease.lives(owner, in: store) {
                Self.fail(&task, at: clock.wallTime)
            }
            return .task(task)
        }
        guard case .unknown? = found else { return found ?? .away }
        if hasJustFailed { return .away }
        return await takesValues() ? .unknown : .away
    }

    /// Whether the store takes values: one that is full may lack the tasks that were made meanwhile.
    private func takesValues() async -> Bool {
        await attempt("it takes no values, so that tasks are known to their instances alone") { store in
            try await store.set([], for: "probe", lifetime: .seconds(1))
            return true
        } ?? false
    }

    /// Turns a task into one whose instance has ended.
    private static func fail(_ task: inout JSONObject, at time: WallTime) {
        let error = MCPError.interrupted("The instance of the server that worked on the task has ended")
        task["status"] = .string(TaskStatus.failed.rawValue)
        task["lastUpdatedAt"] = .string(time.description)
        task["inputRequests"] = nil
        task["error"] = ["code": JSONValue(error.code), "message": .string(error.message)]
    }

    /// Leaves a cancellation for the instance that works on a task. Returns false if that failed.
    func cancel(_ id: String) async -> Bool {
        let key = "cancel:\(id)"
        return await shared.attempt("a task was not cancelled") { [shared] store in
            try await store.set(shared.mark(of: key), for: key, lifetime: Self.patience)
            return true
        } ?? false
    }

    /// Leaves answers for the instance that works on a task. Returns false if that failed, or if others are
    /// waiting.
    func answer(_ id: String, _ answers: JSONObject) async -> Bool {
        let message = Array(JSONValue.object(answers).serialized().utf8)
        guard message.count <= Self.maxBytes else { return false }
        let sealed = keys.seal(message, Self.context("answer", id))
        return await shared.attempt("answers for a task were refused") { store in
            try await store.insert(sealed, for: "answer:\(id)", lifetime: Self.patience)
        } ?? false
    }

    private static func context(_ kind: String, _ id: String) -> (inout HMACSHA256) -> Void {
        // Neither contains a NUL.
        { $0.update("shared \(kind) \(id)\0".utf8) }
    }

    private static func hash(_ principal: String) -> String {
        Hex.encode(SHA256.hash(principal.utf8).bytes)
    }
}

extension Dispatcher {
    /// Answers a request about a task that this instance does not have.
    func serveTask(
        ofOthers shared: SharedTasks, _ id: String, _ request: Request, _ writer: inout JSONWriter,
        _ sink: SinkMaker
    ) -> Disposition {
        let answers: JSONObject?
        do {
            answers =
                request.verdict.entry.method == .tasksUpdate ? try inputResponses(of: request) : nil
        } catch {
            return fail(request, error, &writer)
        }
        return `defer`(request, timeout: nil, &writer, sink) { [self] _ in
            let found = await shared.find(id, principal: request.principalKey)
            guard case .task(let task) = found else {
                let error = Self.refusal(found)
                return answer { fail(request, error, &$0) }
            }
            var isDone = true
            switch request.verdict.entry.method {
            case .tasksUpdate: isDone = await shared.answer(id, answers ?? [:])
            case .tasksCancel: isDone = await shared.cancel(id)
            default: return answer { write(task, for: request, &$0) }
            }
            return answer { isDone ? pong(request, &$0) : fail(request, Self.refusal(.away), &$0) }
        }
    }

    private static func refusal(_ found: SharedTasks.Found) -> MCPError {
        switch found {
        case .task, .unknown: .invalidParams("Unknown task; it may have expired")
        case .tooLarge(let count):
            .internalError(
                "The task has \(count) bytes and is kept by the instance of the server that made it")
        case .away:
            MCPError(
                code: MCPError.overloadedCode,
                message:
                    "The instance of the server that made the task, or the store of both, cannot be reached "
                    + "now; nothing was done: try again later")
        }
    }

    private func write(
        _ task: JSONObject, for request: Request, _ writer: inout JSONWriter
    ) -> Disposition {
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        for (name, value) in task {
            writer.key(name)
            writer.value(value)
        }
        envelope.end(&writer, for: request.revision)
        return .answered(status: 200)
    }
}
