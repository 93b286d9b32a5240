import Synchronization

extension RequestContext {
    /// Makes the call a task (`io.modelcontextprotocol/tasks`, 2026-07-28): the client gets the task's name
    /// as the answer to its request, and asks from then on how it is going.
    ///
    /// What the handler returns later ends the task; questions stand in the task until they are answered, and
    /// `TaskOptions.deadline` takes the place of the request's deadline. Ask before it what the work depends
    /// on (TASK-08). It changes nothing for clients without the extension, in the handshake revisions, for
    /// tools that are registered with `task: .never`, and the second time.
    /// - Parameters:
    ///   - statusMessage: what is being done, for people.
    ///   - ttl: how long the task is kept; nil is `TaskOptions.ttl`, and `maxTTL` is the most.
    ///   - pollInterval: how often the client is told to ask; nil is `TaskOptions.pollInterval`.
    /// - Throws: `MCPError` 503 when the server keeps too many tasks, `CancellationError` when nobody waits
    ///   for the answer any more, and what a question threw whose answer is not there yet. Let them pass.
    public func becomeTask(
        statusMessage: String? = nil, ttl: Duration? = nil, pollInterval: Duration? = nil
    ) async throws {
        guard let call, call.taskSupport != .never, call.task == nil, let tasks = call.dispatcher.tasks,
            call.request.declaresTasks
        else { return }
        try call.finishRounds()
        let task = try tasks.open(
            for: call, principal: "", ttl: ttl, pollInterval: pollInterval, statusMessage: statusMessage)
        call.become(task)
        let server = call.dispatcher
        let answer = server.conclude(call, server.answer { server.write(task, for: call.request, &$0) })
        server.inFlight.remove(call.exchange.key)
        guard call.exchange.finish(answer) else {
            server.reopen(call)
            tasks.discard(task)
            throw CancellationError()
        }
    }

    /// Says what is being done in a task, for people; without a task it changes nothing.
    public func updateTask(statusMessage: String) {
        call?.task?.say(statusMessage)
    }
}

extension DeferredCall {
    /// A call with open questions is answered with these and becomes no task (TASK-08).
    fileprivate func finishRounds() throws {
        let input = input.withLock { $0 }
        if let refusal = input.refusal { throw refusal }
        if input.rounds?.questions.isEmpty == false { throw InputPending() }
    }
}
