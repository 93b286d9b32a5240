/// A poller that follows a call that became a task until the task ends (`io.modelcontextprotocol/tasks`,
/// "Task Polling").
struct TaskFollower {
    let client: MCPClient
    let options: CallOptions

    /// The interval between two polls when the server names none, and the bounds of what it may name
    /// (TASK-12). Nor is it longer than the time that the server may be silent: nothing else tells that a
    /// server hangs.
    private static let defaultInterval = Duration.seconds(1)
    static let intervals = Duration.milliseconds(50) ... .seconds(60)
    /// The number of consecutive polls that may be lost in transit; the task continues in the meantime.
    static let maxLosses = 5
    /// The errors with which a call ends whose task is known.
    private static let ends: [ClientError.Kind] = [.timeout, .cancelled, .taskCancelled, .inputRequired]

    private var clock: any TimeSource { client.connection.clock }

    /// Returns the result of the call once the task has one.
    ///
    /// - Throws: the `MCPError` of a failed task; `ClientError` when the call was cancelled or the deadline
    ///   passed, in which case the server is notified; `ClientError` when the server cancelled the task, or
    ///   when nothing is known of it any more, with which a call is never unsent.
    func follow(_ created: RawJSON, _ limit: MonotonicInstant?) async throws -> RawJSON {
        var task = try Self.read(created)
        var answered: Set<String> = []
        var rounds = 0
        do {
            while true {
                options.onTask?(task)
                if task.status.isTerminal { return try result(of: task) }
                if task.status == .inputRequired, try await answer(task, &answered, rounds, limit) {
                    rounds += 1
                }
                task = try await next(task, limit)
            }
        } catch is CancellationError {
            try? await cancel(task.taskID)
            throw ClientError(.cancelled, "the call was cancelled, and its task with it")
        } catch let error as ClientError where Self.ends.contains(error.kind) {
            // A task that no caller waits for, or whose question cannot be answered, is of no use.
            if !task.status.isTerminal { try? await cancel(task.taskID) }
            throw [.timeout, .taskCancelled].contains(error.kind) ? error.mayHaveRun("the call") : error
        } catch let error as ClientError {
            throw lost(error)
        }
    }

    /// Returns the error of a call whose task is out of reach: the call was made, whatever became of the
    /// request about the task.
    private func lost(_ error: ClientError) -> ClientError {
        var lost = error
        if [.cannotConnect, .httpStatus, .sessionExpired].contains(error.kind) {
            lost.kind = .connectionClosed
            lost.httpStatus = nil
        }
        lost.message = "the call became a task whose result is unknown: \(error.message)"
        lost.hint = nil
        lost.isUnsent = false
        return lost.mayHaveRun("the call")
    }

    /// Waits for the server's polling interval and then polls the task.
    private func next(_ task: TaskInfo, _ limit: MonotonicInstant?) async throws -> TaskInfo {
        let interval = interval(before: task)
        var losses = 0
        while true {
            let left = limit.map { $0 - clock.now }
            if let left, left <= .zero {
                throw ClientError(.timeout, "the task did not finish before its deadline; it was cancelled")
            }
            try await pause(for: left.map { min($0, interval) } ?? interval)
            do {
                let polled = try await client.task(task.taskID, rest(of: limit))
                guard polled.taskID == task.taskID else {
                    throw ClientError(.protocolViolation, "the server sent another task than the one polled")
                }
                return polled
            } catch let error as ClientError where isLoss(error, limit) && losses < Self.maxLosses {
                losses += 1
            } catch let error as MCPError {
                // A refusal of the request about the task is not the result of the call.
                throw ClientError(
                    .protocolViolation, "the server refused to report it: \(error.message) (\(error.code))")
            }
        }
    }

    /// Returns the options of a request for the task, which may take as long as the call may still take. The
    /// last poll, at the deadline, has a second.
    private func rest(of limit: MonotonicInstant?) -> CallOptions {
        CallOptions(timeout: options.timeout, deadline: limit.map { max(.seconds(1), $0 - clock.now) })
    }

    /// Returns the time after which a task is polled.
    func interval(before task: TaskInfo) -> Duration {
        let silence = options.timeout ?? client.connection.options.timeout ?? Self.intervals.upperBound
        let longest = min(max(silence, Self.intervals.lowerBound), Self.intervals.upperBound)
        return min(max(task.pollInterval ?? Self.defaultInterval, Self.intervals.lowerBound), longest)
    }

    /// Waits for this time.
    ///
    /// - Throws: `CancellationError`; the reason for the end of the connection, as soon as it has ended.
    private func pause(for time: Duration) async throws {
        let connection = client.connection
        await withTaskGroup { group in
            group.addTask { _ = try? await Task.pause(for: time) }
            group.addTask { await connection.ended.wait() }
            _ = await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
        if let end = connection.endOfConnection { throw end }
    }

    /// Returns whether a poll was lost and can be repeated. Over a pipe, no answer is lost on its way: a
    /// server that gives none hangs.
    private func isLoss(_ error: ClientError, _ limit: MonotonicInstant?) -> Bool {
        guard client.connection.endOfConnection == nil else { return false }
        return switch error.kind {
        case .connectionClosed, .cannotConnect: true
        case .timeout: client.connection.transport.isHTTP || limit.map { $0 <= clock.now } == true
        case .httpStatus: error.httpStatus.map { $0 == 429 || $0 >= 500 } ?? false
        default: false
        }
    }

    /// Cancels the task on the server. It does so in a new Swift task, since the waiting one may already be
    /// cancelled.
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
                throw ClientError(.protocolViolation, "the task is completed but has no result")
            }
            // A task asks by its status; its result is final.
            if let type = result["resultType"], type != "complete" {
                throw ClientError(
                    .protocolViolation,
                    "the result of the task has the unexpected resultType \(type.serialized())")
            }
            return RawJSON(result)
        case .failed: throw task.error ?? .internalError("the task failed")
        default:
            let reason = task.statusMessage.map { ": \($0)" } ?? ""
            throw ClientError(.taskCancelled, "the task was cancelled by the server\(reason)")
        }
    }

    /// Answers each key once: a key stays in the list until the server has processed the answer (TASK-14).
    /// Returns whether there was one to answer.
    private func answer(
        _ task: TaskInfo, _ answered: inout Set<String>, _ rounds: Int, _ limit: MonotonicInstant?
    ) async throws -> Bool {
        let open = (task.inputRequests ?? [:]).filter { !answered.contains($0.key) }
        guard !open.isEmpty else { return false }
        guard rounds < client.connection.options.maxRounds else {
            throw MCPClient.inputRequired(
                "the task still requests input after \(rounds) rounds", RawJSON(task.json))
        }
        let requests = RawJSON(.object(JSONObject(open)))
        let answers = try await client.answers(
            to: requests, in: RawJSON(task.json), "tasks/get", ofCall: options.onInput)
        try await client.updateTask(task.taskID, answers, rest(of: limit))
        for (key, _) in open { answered.insert(key) }
        return true
    }
}

extension MCPClient {
    // MARK: Tasks

    /// Returns the state of a task (`tasks/get`).
    ///
    /// - Throws: `MCPError` -32602 when the task does not exist, -32021 when `followsTasks` is off.
    public func task(_ id: String) async throws -> TaskInfo { try await task(id, CallOptions()) }

    func task(_ id: String, _ options: CallOptions) async throws -> TaskInfo {
        try TaskFollower.read(try await request("tasks/get", ["taskId": .string(id)], options: options))
    }

    /// Provides the input that a task requests, by the keys of its `inputRequests` (`tasks/update`).
    ///
    /// - Throws: `MCPError` -32602 when the task does not exist.
    public func updateTask(_ id: String, _ responses: JSONObject) async throws {
        try await updateTask(id, responses, CallOptions())
    }

    func updateTask(_ id: String, _ responses: JSONObject, _ options: CallOptions) async throws {
        let params: JSONObject = ["taskId": .string(id), "inputResponses": .object(responses)]
        _ = try await request("tasks/update", params, options: options)
    }

    /// Asks the server to cancel a task, which may have ended in the meantime (`tasks/cancel`).
    ///
    /// - Throws: `MCPError` -32602 when the task does not exist.
    public func cancelTask(_ id: String) async throws {
        _ = try await request("tasks/cancel", ["taskId": .string(id)])
    }
}
