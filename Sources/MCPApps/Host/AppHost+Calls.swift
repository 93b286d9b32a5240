public import MCPCore
import MCPHarness

/// A call, a way to give it up, and what became of it.
struct CallRecord {
    var call: HostedCall
    /// The tool as it was when it was called.
    let toolDefinition: Tool?
    /// Gives it up; nil when it is over.
    var cancel: (@Sendable () -> Void)?
    /// What the server answered; nil while it has not, and when it was never asked.
    var outcome: Result<CallToolResult, any Error>?
    /// The size of what the host keeps of it for a page that is loaded again.
    var keptBytes = 0
    /// The document that was shown.
    var resource: UIResource?
    /// The view's document is being read.
    var isLoadingView = false
    /// It is over, and joins the history when it is known which document its view shows.
    var isUnremembered = false
    /// The last arguments of which a view was told before they were complete.
    var partial: JSONValue?
    /// The arguments are complete, and the call goes on.
    var hasBegun = false
}

extension AppHost {
    // MARK: By the user

    /// Calls a tool for the user. How it goes is told by events.
    ///
    /// The arguments are checked against the tool's schema, the policy decides, the user is asked where it
    /// says so; then the server is called, and the tool's view is loaded at the same time.
    /// - Returns: the call's id.
    /// - Throws: `AppHostError.unknownServer`, `.unknownTool`, `.invalidArguments`.
    @discardableResult
    public func call(
        _ server: HostedServer.ID, _ tool: String, _ arguments: JSONValue = [:]
    ) throws(AppHostError) -> HostedCall.ID {
        guard arguments.objectValue != nil else { throw .invalidArguments }
        guard let record = record(ofServer: server) else { throw .unknownServer(server) }
        guard let entry = record.catalog.entry(tool) else { throw .unknownTool(tool) }
        let id = open(source: .server(server), entry.tool, arguments, by: .user, from: nil)
        let task = Task { _ = await run(id, record.catalog) }
        calls[id]?.cancel = { task.cancel() }
        return id
    }

    /// What does not fit in the arguments of a tool; nothing is called.
    /// - Throws: `AppHostError.unknownServer`, `.unknownTool`.
    public func validate(
        _ server: HostedServer.ID, _ tool: String, _ arguments: JSONValue
    ) throws(AppHostError) -> [SchemaViolation] {
        guard let record = record(ofServer: server) else { throw .unknownServer(server) }
        guard let entry = record.catalog.entry(tool) else { throw .unknownTool(tool) }
        guard case .success(let schema) = entry.input else { return [] }
        return schema.validate(arguments)
    }

    /// Gives a call up: the server is told, and its view.
    public func cancel(_ call: HostedCall.ID) { calls[call]?.cancel?() }

    /// Calls again what was called before, as a new call.
    /// - Throws: `AppHostError.unknownCall`, and what `call` throws.
    @discardableResult
    public func retry(_ call: HostedCall.ID) throws(AppHostError) -> HostedCall.ID {
        guard let old = calls[call]?.call else { throw .unknownCall(call) }
        guard case .server(let server) = old.source else { throw .unknownTool(old.tool) }
        return try self.call(server, old.tool, old.arguments)
    }

    // MARK: One call

    /// Notes a call that somebody wants.
    func open(
        source: HostedCall.Source, _ tool: Tool, _ arguments: JSONValue, by caller: ToolCaller,
        from view: HostedView.ID?
    ) -> HostedCall.ID {
        let id: HostedCall.ID = nextID("c")
        let call = HostedCall(
            id: id, source: source, tool: tool.name, arguments: arguments, requestedBy: caller,
            callingView: view, time: WallTime.now.description)
        calls[id] = CallRecord(call: call, toolDefinition: tool)
        callOrder.append(id)
        forgetOldCalls()
        emit(.call(call))
        return id
    }

    /// Makes a call and waits for its end.
    /// - Returns: what became of it, and what the server answered, if it was asked.
    func run(
        _ id: HostedCall.ID, _ catalog: ToolCatalog
    ) async -> (result: ToolExecutionResult, answer: Result<CallToolResult, any Error>?)? {
        guard let call = calls[id]?.call else { return nil }
        // The next progress says more than the one before it.
        let (events, continuation) = AsyncStream.makeStream(
            of: Progress.self, bufferingPolicy: .bufferingNewest(1))
        let follower = Task { for await progress in events { progressed(id, progress) } }
        var limits = HarnessLimits()
        limits.toolTimeout = options.timeout
        let policies = policies(for: call)
        let runner = CallRunner(
            catalog: catalog.under(policies), policies: policies, desk: desk, limits: limits
        ) { event in
            if case .toolProgress(_, let progress) = event { continuation.yield(progress) }
        }
        let result = await runner.run(
            ModelToolCall(callID: id.rawValue, name: call.tool, arguments: call.arguments.serialized()),
            by: call.requestedBy)
        continuation.finish()
        await follower.value
        let answer = calls[id]?.outcome
        finish(id, result)
        return (result, answer)
    }

    /// What the user asks for by hand needs no second question, unless the policies want one for everything.
    /// A view reaches only the server that made it, which could do by itself what it does through its view:
    /// so what that server says of its tools counts there.
    private func policies(for call: HostedCall) -> PolicyTable {
        var policies = options.policies
        switch call.requestedBy {
        case .user: if policies.override == nil { policies.override = .automatic }
        case .view: policies.trust(call.source.id)
        case .model: break
        }
        return policies
    }

    func progressed(_ id: HostedCall.ID, _ progress: Progress) {
        change(id) { $0.call.progress = progress }
    }

    func change(_ id: HostedCall.ID, _ body: (inout CallRecord) -> Void) {
        guard var record = calls[id] else { return }
        body(&record)
        calls[id] = record
        emit(.call(record.call))
    }

    /// The call may run and is about to be sent.
    func callBegins(_ id: HostedCall.ID) {
        guard let record = calls[id], !record.call.state.isOver else { return }
        change(id) {
            $0.hasBegun = true
            $0.call.state = .calling
        }
        loadView(id)
        if let view = calls[id]?.call.view {
            update(view) { [arguments = record.call.arguments] in $0.toolInput(arguments) }
        }
    }

    func callEnds(_ id: HostedCall.ID, with outcome: Result<CallToolResult, any Error>) {
        if calls[id]?.call.state.isOver == false { calls[id]?.outcome = outcome }
    }

    /// The call is over, however it ended.
    func finish(_ id: HostedCall.ID, _ result: ToolExecutionResult) {
        guard let record = calls[id], !record.call.state.isOver else { return }
        let answer: CallToolResult? = if case .success(let answer) = record.outcome { answer } else { nil }
        change(id) {
            $0.call.duration = result.duration
            $0.call.progress = nil
            $0.cancel = nil
            switch result.status {
            case .completed: $0.call.state = .completed
            case .failed: $0.call.state = .failed
            case .denied: $0.call.state = .denied
            case .cancelled: $0.call.state = .cancelled
            }
            // What was cancelled has no result, even when the server was quicker.
            $0.call.result = result.status == .cancelled ? nil : answer
            if $0.call.result == nil { $0.call.problem = result.output.text }
            $0.outcome = nil
        }
        tellEnd(id)
        if calls[id]?.isLoadingView == true {
            calls[id]?.isUnremembered = true
        } else {
            remember(id)
        }
        limitResults(id)
        closeForms(of: record.call.source)
    }

    /// What may take room without a bound is given up, the oldest first: one view could fill the memory.
    private func limitResults(_ last: HostedCall.ID) {
        guard let call = calls[last]?.call else { return }
        let isByView = call.callingView != nil
        calls[last]?.keptBytes =
            (call.result?.json.serialized().utf8.count ?? 0)
            + (isByView ? call.arguments.serialized().utf8.count : 0)
        var bytes = calls.values.reduce(0) { $0 + $1.keptBytes }
        for id in callOrder where bytes > Self.maxResultBytes && id != last {
            guard var record = calls[id], record.keptBytes > 0 else { continue }
            bytes -= record.keptBytes
            record.keptBytes = 0
            record.call.result = nil
            record.call.problem =
                record.call.problem ?? "The result was evicted to stay within the memory limit."
            if record.call.callingView != nil { record.call.arguments = "no longer kept" }
            calls[id] = record
        }
    }

    /// The document of a call's view was read, or cannot be.
    func viewIsLoaded(_ id: HostedCall.ID) {
        calls[id]?.isLoadingView = false
        guard calls[id]?.isUnremembered == true else { return }
        calls[id]?.isUnremembered = false
        remember(id)
    }

    /// Tells the view of a call that is over: exactly one of result and cancellation.
    func tellEnd(_ id: HostedCall.ID) {
        guard let call = calls[id]?.call, call.state.isOver, let view = call.view else { return }
        if let result = call.result {
            update(view) { $0.toolResult(result) }
        } else {
            update(view) { $0.toolCancelled(reason: call.problem) }
        }
    }

    // MARK: History

    /// The calls that are over, the oldest first.
    public func history() -> [HistoryEntry] { pastCalls }

    private func remember(_ id: HostedCall.ID) {
        guard let record = calls[id] else { return }
        let name = self.name(of: record.call.source)
        let entry = HistoryEntry(record.call, server: name, resource: record.resource)
        pastCalls = Self.bounded(pastCalls + [entry])
        emit(.history(entry))
    }

    private func forgetOldCalls() {
        while callOrder.count > Self.maxCalls,
            let index = callOrder.firstIndex(where: {
                calls[$0].map { $0.call.state.isOver && $0.call.view == nil && !$0.isLoadingView } ?? true
            })
        {
            calls[callOrder.remove(at: index)] = nil
        }
    }
}
