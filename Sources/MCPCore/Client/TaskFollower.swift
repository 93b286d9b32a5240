/// Follows a call that became a task to its end (`io.modelcontextprotocol/tasks`, "Task Polling").
struct TaskFollower {
    let client: MCPClient
    let options: CallOptions

    /// Between two questions when the server names no interval, and the bounds of what it may name (TASK-12).
    private static let defaultInterval = Duration.seconds(1)
    private static let intervals = Duration.milliseconds(50) ... .seconds(3_600)
    /// Questions in a row that may get lost on the way; the task goes on meanwhile.
    static let maxLosses = 5

    private var clock: any TimeSource { client.connection.clock }

    /// The result of the call, when the task has one.
    ///
    /// - Throws: the `MCPError` of a failed task; `ClientError` when it was cancelled or the deadline
    ///   passed, in which case the server is told.
    func follow(_ created: RawJSON, _ limit: MonotonicInstant?) async throws -> RawJSON {
        var task = try Self.read(created)
        var answered: Set<String> = []
        do {
            while true {
                options.onTask?(task)
                if task.status.isTerminal { return try result(of: task) }
                if task.status == .inputRequired { try await answer(task, &answered) }
                task = try await next(task, limit)
            }
        } catch is CancellationError {
            try? await cancel(task.taskID)
            throw ClientError(.cancelled, "the call was cancelled, and its task with it")
        } catch let error as ClientError where [.timeout, .cancelled, .inputRequired].contains(error.kind) {
            // A task that nobody waits for, or whose question nobody answers, is of no use.
            if !task.status.isTerminal { try? await cancel(task.taskID) }
            throw error
        }
    }

    /// Waits as long as the server wants, and asks how far the task has come.
    private func next(_ task: TaskInfo, _ limit: MonotonicInstant?) async throws -> TaskInfo {
        let interval = min(
            max(task.pollInterval ?? Self.defaultInterval, Self.intervals.lowerBound),
            Self.intervals.upperBound)
        var losses = 0
        while true {
            let left = limit.map { $0 - clock.now }
            if let left, left <= .zero {
                throw ClientError(.timeout, "the task did not end before its deadline; it was cancelled")
            }
            try await Task.pause(for: left.map { min($0, interval) } ?? interval)
            do {
                return try await client.task(task.taskID)
            } catch let error as ClientError where isLoss(error) && losses < Self.maxLosses {
                losses += 1
            }
        }
    }

    /// Whether a question got lost that can be asked again.
    private func isLoss(_ error: ClientError) -> Bool {
        guard client.connection.endOfConnection == nil else { return false }
        return switch error.kind {
        case .connectionClosed, .cannotConnect, .timeout: true
        case .httpStatus: (error.httpStatus ?? 0) >= 500
        default: false
        }
    }

    /// In a task of its own: the one that waited may be cancelled already.
    private func cancel(_ id: String) async throws {
        let client = client
        try await Task { try await client.cancelTask(id) }.value
    }

    static func read(_ result: RawJSON) throws(ClientError) -> TaskInfo {
        do {
            return try TaskInfo(json: result.value)
        } catch {
            throw ClientError(.protocolViolation, "the server sent a malformed task", details: ["\(error)"])
        }
    }

    private func result(of task: TaskInfo) throws -> RawJSON {
        switch task.status {
        case .completed:
            guard let result = task.result, case .object = result else {
                throw ClientError(.protocolViolation, "the task is completed and has no result")
            }
            return RawJSON(result)
        case .failed: throw task.error ?? .internalError("the task failed")
        default: throw ClientError(.cancelled, "the task was cancelled by the server")
        }
    }

    /// Each key is answered once: it stays in the list until the server has taken the answer (TASK-14).
    private func answer(_ task: TaskInfo, _ answered: inout Set<String>) async throws {
        let open = (task.inputRequests ?? [:]).filter { !answered.contains($0.key) }
        guard !open.isEmpty else { return }
        let requests = RawJSON(.object(JSONObject(open)))
        let answers = try await client.answers(to: requests, in: RawJSON(task.json), "tasks/get")
        try await client.updateTask(task.taskID, answers)
        for (key, _) in open { answered.insert(key) }
    }
}

extension MCPClient {
    // MARK: Tasks

    /// How far a task has come (`tasks/get`).
    ///
    /// - Throws: `MCPError` -32602 when there is no such task, -32021 when `followsTasks` is off.
    public func task(_ id: String) async throws -> TaskInfo {
        try TaskFollower.read(try await request("tasks/get", ["taskId": .string(id)]))
    }

    /// Answers what a task asks for, by the keys of its `inputRequests` (`tasks/update`).
    ///
    /// - Throws: `MCPError` -32602 when there is no such task.
    public func updateTask(_ id: String, _ responses: JSONObject) async throws {
        _ = try await request("tasks/update", ["taskId": .string(id), "inputResponses": .object(responses)])
    }

    /// Asks the server to give a task up; it may have ended meanwhile (`tasks/cancel`).
    ///
    /// - Throws: `MCPError` -32602 when there is no such task.
    public func cancelTask(_ id: String) async throws {
        _ = try await request("tasks/cancel", ["taskId": .string(id)])
    }
}
