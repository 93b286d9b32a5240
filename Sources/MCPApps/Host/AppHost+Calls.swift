public import MCPCore
import MCPHarness

/// A call, a way to cancel it, and its outcome.
struct CallRecord {
    var call: HostedCall
    /// The tool as it was when it was called.
    let toolDefinition: Tool?
    /// Cancels the call; `nil` once the call has ended.
    var cancel: (@Sendable () -> Void)?
    /// The server's response; `nil` while there is none, and if the server was never called.
    var outcome: Result<CallToolResult, any Error>?
    /// The size of what the host keeps of the call for a page that is reloaded.
    var keptBytes = 0
    /// The document that was shown.
    var resource: UIResource?
    /// The result as the server wrote it, where that is more than the host knows of results.
    var verbatim: JSONObject?
    /// The request of the view that the call answers.
    var viewRequest: ViewRequestID?
    /// The tool whose view made the call, if one did: the view may be closed before the call ends.
    var callingTool: String?
    /// The name of the server, or of the view, that offers the tool, as it was when it was called.
    let sourceName: String
    /// The members of `_meta` that the view gave for the server.
    var meta = JSONObject()
    /// Whether the view's document is being read.
    var isLoadingView: Bool {
        get { call.isLoadingView }
        set { call.isLoadingView = newValue }
    }
    /// Whether the call has ended, and joins the history once it is known which document its view shows.
    var isUnremembered = false
    /// The last arguments that a view received before they were complete.
    var partial: JSONValue?
    /// Whether the arguments are complete and the call proceeds.
    var hasBegun = false
}

/// The end of a call: its outcome, and the server's response if it was called.
struct CallEnd {
    let result: ToolExecutionResult
    let answer: Result<CallToolResult, any Error>?
    /// The response as the server wrote it, where that is more than `answer`.
    let json: JSONValue?
}

extension AppHost {
    // MARK: Calls by the user

    /// Calls a tool for the user. Events report how it proceeds.
    ///
    /// The arguments are checked against the tool's schema, the policy decides, and the user is asked if the
    /// policy requires it. Then the server is called, and the tool's view is loaded at the same time.
    /// - Returns: the call's id.
    /// - Throws: `AppHostError.unknownServer`, `.unknownTool`, `.invalidArguments`.
    @discardableResult
    public func call(
        _ server: HostedServer.ID, _ tool: String, _ arguments: JSONValue = [:]
    ) throws(AppHostError) -> HostedCall.ID {
        guard arguments.objectValue != nil else { throw .invalidArguments }
        guard let record = record(ofServer: server) else { throw .unknownServer(server) }
        guard let entry = record.catalog.entry(tool) else { throw .unknownTool(tool) }
        letAsk(server)
        let id = open(source: .server(server), entry.tool, arguments, by: .user, from: nil)
        let task = Task { _ = await run(id, record.catalog) }
        calls[id]?.cancel = { task.cancel() }
        return id
    }

    /// Calls a tool for the user if it is still the one of the client that the user was shown.
    ///
    /// - Parameter client: the client that the list of tools named; `nil` if it named none.
    /// - Throws: `AppHostError.otherClient`, and the errors of `call`.
    @discardableResult
    package func call(
        _ server: HostedServer.ID, _ tool: String, _ arguments: JSONValue, of client: String?
    ) throws(AppHostError) -> HostedCall.ID {
        if let entry = record(ofServer: server)?.catalog.entry(tool), entry.tool.clientID != client {
            throw .otherClient(tool: tool)
        }
        return try call(server, tool, arguments)
    }

    /// Returns what does not fit in the arguments of a tool; nothing is called.
    /// - Throws: `AppHostError.unknownServer`, `.unknownTool`.
    public func validate(
        _ server: HostedServer.ID, _ tool: String, _ arguments: JSONValue
    ) throws(AppHostError) -> [SchemaViolation] {
        guard let record = record(ofServer: server) else { throw .unknownServer(server) }
        guard let entry = record.catalog.entry(tool) else { throw .unknownTool(tool) }
        guard case .success(let schema) = entry.input else { return [] }
        return schema.validate(arguments)
    }

    /// Cancels a call: the server and the call's view are notified.
    public func cancel(_ call: HostedCall.ID) { calls[call]?.cancel?() }

    /// Repeats an earlier call as a new one, of the same client where a server offers the tools of clients.
    /// - Throws: `AppHostError.unknownCall`, `.otherClient`, and the errors of `call`.
    @discardableResult
    public func retry(_ call: HostedCall.ID) throws(AppHostError) -> HostedCall.ID {
        guard let record = calls[call] else { throw .unknownCall(call) }
        let old = record.call
        guard case .server(let server) = old.source else { throw .unknownTool(old.tool) }
        return try self.call(server, old.tool, old.arguments, of: record.toolDefinition?.clientID)
    }

    // MARK: One call

    /// Records a call that was requested.
    func open(
        source: HostedCall.Source, _ tool: Tool, _ arguments: JSONValue, by caller: ToolCaller,
        from view: HostedView.ID?
    ) -> HostedCall.ID {
        let id: HostedCall.ID = nextID("c")
        let call = HostedCall(
            id: id, source: source, tool: tool.name, arguments: arguments, requestedBy: caller,
            callingView: view, callingCall: view.flatMap { views[$0]?.view.call },
            time: WallTime.now.description)
        calls[id] = CallRecord(
            call: call, toolDefinition: tool, callingTool: view.flatMap { views[$0]?.view.tool },
            sourceName: name(of: source))
        callOrder.append(id)
        forgetOldCalls()
        emit(.call(call))
        return id
    }

    /// Makes a call and waits for it to end.
    func run(
        _ id: HostedCall.ID, _ catalog: ToolCatalog
    ) async -> CallEnd? {
        guard let call = calls[id]?.call else { return nil }
        // The latest progress supersedes the one before it.
        let (events, continuation) = AsyncStream.makeStream(
            of: ProgressReport.self, bufferingPolicy: .bufferingNewest(1))
        let follower = Task { for await progress in events { progressed(id, progress) } }
        var limits = HarnessLimits()
        // A tool may be silent for `AppHostOptions.timeout`, as the client counts; how long it runs is open.
        limits.toolTimeout = nil
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
        let json = calls[id]?.verbatim.map { JSONValue.object($0) }
        finish(id, result)
        return CallEnd(result: result, answer: answer, json: json)
    }

    /// Returns the policies that apply to a call.
    ///
    /// What the user requests by hand needs no second question, unless the policies require one for
    /// everything. A view reaches only the server that made it, and that server could do on its own what it
    /// does through its view. So what the server declares about its tools counts there.
    private func policies(for call: HostedCall) -> PolicyTable {
        var policies = options.policies
        switch call.requestedBy {
        case .user: if policies.override == nil { policies.override = .automatic }
        case .view:
            policies.trust(call.source.id)
            if isMadeForViews(call, policies) { policies.override = .automatic }
        case .model: break
        }
        return policies
    }

    /// Whether a server made a tool for its views alone and does not call it destructive: the user saw the
    /// view, and the view is what calls it. What the user's own policies say about the tool still counts.
    private func isMadeForViews(_ call: HostedCall, _ policies: PolicyTable) -> Bool {
        guard let tool = calls[call.id]?.toolDefinition, let server = record(of: call.source.id),
            tool.visibility == [.app], tool.annotations?.destructiveHint != true
        else { return false }
        var derived = PolicyTable()
        derived.trust(call.source.id)
        return policies.policy(for: tool, of: server.source) == derived.policy(for: tool, of: server.source)
    }

    func progressed(_ id: HostedCall.ID, _ progress: ProgressReport) {
        change(id) { $0.call.progress = progress }
        guard let record = calls[id], let view = record.call.callingView, let request = record.viewRequest
        else { return }
        update(view) { $0.progress(request, progress) }
    }

    func change(_ id: HostedCall.ID, _ body: (inout CallRecord) -> Void) {
        guard var record = calls[id] else { return }
        body(&record)
        record.call.canShowView = canShowView(record)
        calls[id] = record
        emit(.call(record.call))
    }

    /// Notes that the call may run and is about to be sent.
    ///
    /// - Returns: the members of `_meta` that its server receives.
    @discardableResult
    func callBegins(_ id: HostedCall.ID) -> JSONObject {
        guard let record = calls[id], !record.call.state.isOver else { return [:] }
        change(id) {
            $0.hasBegun = true
            $0.call.state = .calling
        }
        loadView(id)
        if let view = calls[id]?.call.view {
            update(view) { [arguments = record.call.arguments] in $0.toolInput(arguments) }
        }
        return record.meta
    }

    func callEnds(_ id: HostedCall.ID, with outcome: Result<ServerAnswer, any Error>) {
        guard calls[id]?.call.state.isOver == false else { return }
        calls[id]?.outcome = outcome.map(\.result)
        if case .success(let answer) = outcome { calls[id]?.verbatim = answer.verbatim }
    }

    /// Records the end of a call, whatever its outcome.
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
            // A call that was cancelled has no result, even if the server was faster.
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

    /// Drops data that could grow without bound, the oldest first: a single view could fill the memory.
    private func limitResults(_ last: HostedCall.ID) {
        guard let call = calls[last]?.call else { return }
        let isByView = call.callingView != nil
        let verbatim = calls[last]?.verbatim.map { JSONValue.object($0).serialized().utf8.count }
        calls[last]?.keptBytes =
            (call.result?.json.serialized().utf8.count ?? 0) + (verbatim ?? 0)
            + (isByView ? call.arguments.serialized().utf8.count : 0)
        var bytes = calls.values.reduce(0) { $0 + $1.keptBytes }
        for id in callOrder where bytes > Self.maxResultBytes && id != last {
            guard var record = calls[id], record.keptBytes > 0 else { continue }
            bytes -= record.keptBytes
            record.keptBytes = 0
            record.call.result = nil
            record.verbatim = nil
            record.call.problem =
                record.call.problem ?? "The result was evicted to stay within the memory limit."
            if record.call.callingView != nil { record.call.arguments = "no longer kept" }
            calls[id] = record
        }
    }

    /// Notes that the document of a call's view was read, or cannot be.
    func viewIsLoaded(_ id: HostedCall.ID) {
        if calls[id]?.isLoadingView == true { change(id) { $0.isLoadingView = false } }
        guard calls[id]?.isUnremembered == true else { return }
        calls[id]?.isUnremembered = false
        remember(id)
    }

    /// Notifies the view of a call that has ended: with exactly one of result and cancellation.
    func tellEnd(_ id: HostedCall.ID) {
        guard let record = calls[id], record.call.state.isOver, let view = record.call.view else { return }
        let call = record.call
        if let verbatim = record.verbatim, call.result != nil {
            update(view) { $0.toolResult(verbatim: verbatim) }
        } else if let result = call.result {
            update(view) { $0.toolResult(result) }
        } else {
            update(view) { $0.toolCancelled(reason: call.problem) }
        }
    }

    // MARK: History

    /// Returns the calls that have ended, the oldest first.
    public func history() -> [HistoryEntry] { pastCalls }

    private func remember(_ id: HostedCall.ID) {
        guard let record = calls[id] else { return }
        let entry = HistoryEntry(
            record.call, server: record.sourceName, callingTool: record.callingTool, resource: record.resource
        )
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
