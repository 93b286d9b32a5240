import Synchronization

/// `tasks/get`, `tasks/update` and `tasks/cancel` (`io.modelcontextprotocol/tasks`).
extension Dispatcher {
    func serveTask(
        _ request: Request, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        // A client without the extension receives this error first, whatever else is wrong (TASK-20).
        guard request.declaresTasks else { return fail(request, Self.missingTasks, &writer) }
        guard let id = request.message.params?["taskId"]?.string else {
            return fail(
                request, .invalidParams("\(request.message.method) needs \"taskId\", a string"), &writer)
        }
        guard let task = tasks?.task(id, principal: request.principalKey) else {
            if let sharedTasks, SharedTasks.isID(id) {
                return serveTask(ofOthers: sharedTasks, id, request, &writer, sink)
            }
            return fail(request, .invalidParams("Unknown task; it may have expired"), &writer)
        }
        switch request.verdict.entry.method {
        case .tasksUpdate:
            do {
                try task.take(inputResponses(of: request))
            } catch {
                return fail(request, error, &writer)
            }
        case .tasksCancel:
            if task.end(.cancelled, byHandler: false) { counters.count(.cancelled) }
        default:
            envelope.begin(&writer, id: request.idBytes, for: request.revision)
            // Before: what it is told may be older than the end, but not newer.
            task.saw()
            task.write(to: &writer)
            envelope.end(&writer, for: request.revision)
            return .answered(status: 200)
        }
        return pong(request, &writer)
    }

    func inputResponses(of request: Request) throws(MCPError) -> JSONObject {
        guard case .object(let answers)? = request.message.params?["inputResponses"]?.value else {
            throw .invalidParams("tasks/update needs \"inputResponses\", an object")
        }
        return answers
    }

    /// The error -32021 for requests that only clients with the extension may make (TASK-04, TASK-20).
    static var missingTasks: MCPError {
        MCPError(
            code: MCPError.missingClientCapabilityCode,
            message: "This needs the extension \(TaskOptions.identifier); declare it in clientCapabilities",
            data: ["requiredCapabilities": ["extensions": .object([TaskOptions.identifier: [:]])]])
    }

    /// Answers a request with the task that it has become (TASK-06).
    func write(_ task: ServerTask, for request: Request, _ writer: inout JSONWriter) -> Disposition {
        envelope.begin(&writer, id: request.idBytes, resultType: "task")
        task.write(to: &writer)
        envelope.end(&writer, for: request.revision)
        return .answered(status: 200)
    }
}

extension Dispatcher.Request {
    /// Whether this request declares the tasks extension. Only requests of the modern era can: in a
    /// handshake, the same key enables nothing (TASK-25).
    var declaresTasks: Bool {
        guard revision.has(.extensions) else { return false }
        return message.raw(message.head.metaCapabilities)?["extensions"]?[TaskOptions.identifier]?.kind
            == .object
    }
}

extension ServerTask {
    /// The task in the form of `tasks/get` and `notifications/tasks`.
    var json: RawJSON {
        var writer = JSONWriter()
        writer.beginObject()
        write(to: &writer)
        writer.endObject()
        return RawJSON(unchecked: writer.finish())
    }

    /// Writes the task's members into an open object (TASK-09).
    func write(to writer: inout JSONWriter) {
        let state = state.withLock { $0 }
        writer.member("taskId", id)
        writer.member("status", state.status.rawValue)
        writer.member("statusMessage", state.statusMessage)
        writer.member("createdAt", createdAt.description)
        writer.member("lastUpdatedAt", state.lastUpdatedAt.description)
        writer.member("ttlMs", Int(clamping: ttl.milliseconds))
        writer.member("pollIntervalMs", Int(clamping: pollInterval.milliseconds))
        if !state.questions.isEmpty {
            writer.key("inputRequests")
            writer.beginObject()
            for (key, question) in state.questions {
                writer.key(key)
                question.request.write(to: &writer, for: .newest)
            }
            writer.endObject()
        }
        switch state.outcome {
        case .result(let result): writer.member("result", result)
        case .error(let error):
            writer.key("error")
            ResultEnvelope.write(error, to: &writer, for: .newest)
        case .cancelled, nil: break
        }
    }
}

extension Dispatcher {
    /// Returns the tasks that a subscription may watch: those that are kept and belong to its caller.
    ///
    /// - Throws: `MCPError` -32021 when tasks are requested and the extension is not declared (SUB-13).
    func honouredTasks(_ ids: [String], _ request: Request) throws(MCPError) -> [String] {
        guard !ids.isEmpty, let tasks else { return [] }
        guard request.declaresTasks else { throw Self.missingTasks }
        let principal = request.principalKey
        return ids.filter { tasks.task($0, principal: principal) != nil }
    }
}
