import Synchronization

extension RequestContext {
    /// Turns the call into a task (`io.modelcontextprotocol/tasks`, 2026-07-28): the client receives the
    /// task's id as the response to its request, and polls for the status from then on.
    ///
    /// The handler's later result ends the task; questions stay in the task until they are answered, and
    /// `TaskOptions.deadline` replaces the request's deadline. Before this call, ask the questions that the
    /// work depends on (TASK-08). The call has no effect for clients without the extension, in the handshake
    /// revisions, for tools that are registered with `task: .never`, and when it is made a second time.
    /// - Parameters:
    ///   - statusMessage: a description of the current work, for people.
    ///   - ttl: the time for which the task is kept; nil uses `TaskOptions.ttl`, and `maxTTL` is the maximum.
    ///   - pollInterval: the interval at which the client is told to poll; nil uses
    ///     `TaskOptions.pollInterval`.
    /// - Throws: `MCPError` 503 when the server keeps too many tasks, `CancellationError` when no caller
    ///   waits for the response any more, and the error of a question whose answer is not available yet.
    ///   Let them propagate.
    public func becomeTask(
        statusMessage: String? = nil, ttl: Duration? = nil, pollInterval: Duration? = nil
    ) async throws {
        guard let call, call.taskSupport != .never, call.task == nil, let tasks = call.dispatcher.tasks,
            call.request.declaresTasks
        else { return }
        try call.finishRounds()
        let task: ServerTask
        do {
            task = try tasks.open(
                for: call, principal: call.request.principalKey, ttl: ttl, pollInterval: pollInterval,
                statusMessage: statusMessage)
        } catch {
            call.input.withLock { $0.hadNoRoom = true }
            throw error
        }
        call.input.withLock { $0.isHeld = false }
        call.become(task)
        let server = call.dispatcher
        await server.sharedTasks?.begin(task)
        let answer = server.conclude(call, server.answer { server.write(task, for: call.request, &$0) })
        server.inFlight.remove(call.exchange.key)
        guard call.exchange.finish(answer) else {
            server.reopen(call)
            tasks.discard(task)
            throw CancellationError()
        }
    }

    /// Sets the description of a task's current work, for people; has no effect without a task.
    public func updateTask(statusMessage: String) {
        call?.task?.say(statusMessage)
    }
}

extension DeferredCall {
    /// Ends the rounds of questions: a call with open questions is answered with them and does not become
    /// a task (TASK-08).
    fileprivate func finishRounds() throws {
        let input = input.withLock { $0 }
        if let refusal = input.refusal { throw refusal }
        if input.rounds?.questions.isEmpty == false { throw InputPending() }
    }
}
