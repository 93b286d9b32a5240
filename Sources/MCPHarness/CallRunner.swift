import MCPCore

/// Runs calls under their policies; every call by a model, a view or a user passes through here.
package struct CallRunner: Sendable {
    let catalog: ToolCatalog
    let policies: PolicyTable
    let desk: ApprovalCoordinator
    let limits: HarnessLimits
    let emit: @Sendable (HarnessEvent) -> Void

    /// - Parameter emit: receives the events.
    package init(
        catalog: ToolCatalog, policies: PolicyTable, desk: ApprovalCoordinator, limits: HarnessLimits,
        emit: @escaping @Sendable (HarnessEvent) -> Void
    ) {
        self.catalog = catalog
        self.policies = policies
        self.desk = desk
        self.limits = limits
        self.emit = emit
    }

    // MARK: Rounds

    /// Runs the calls of one round and returns their results in the order of the calls.
    ///
    /// Calls that only read run concurrently; every other call runs alone. If the caller gives up, calls that
    /// have not begun are never run.
    func run(_ calls: [ModelToolCall]) async -> [ToolExecutionResult] {
        var results: [ToolExecutionResult] = []
        var rest = calls[...]
        while let first = rest.first {
            let index = calls.count - rest.count
            guard index < limits.maxCallsPerRound else {
                let text = "Not run: one answer may make at most \(limits.maxCallsPerRound) calls."
                results += rest.map { refuse($0, text) }
                break
            }
            let beside = rest.prefix(limits.maxCallsPerRound - index)
                .prefix { catalog.entry($0.name)?.runsBesideOthers == true }
            if beside.isEmpty {
                results.append(await run(first, by: .model))
                rest = rest.dropFirst()
            } else {
                results += await runBesideEachOther(Array(beside))
                rest = rest.dropFirst(beside.count)
            }
        }
        return results
    }

    private func runBesideEachOther(_ calls: [ModelToolCall]) async -> [ToolExecutionResult] {
        await withTaskGroup(of: (Int, ToolExecutionResult).self) { group in
            var results = [ToolExecutionResult?](repeating: nil, count: calls.count)
            for index in calls.indices {
                if index >= max(1, limits.maxConcurrentCalls), let (done, result) = await group.next() {
                    results[done] = result
                }
                group.addTask { (index, await run(calls[index], by: .model)) }
            }
            for await (index, result) in group { results[index] = result }
            return results.compactMap(\.self)
        }
    }

    private func refuse(_ call: ModelToolCall, _ text: String) -> ToolExecutionResult {
        finish(announce(call, catalog.entry(call.name), .model), .failed, .error(text), ContinuousClock.now)
    }

    // MARK: Single calls

    private func announce(
        _ call: ModelToolCall, _ entry: ToolCatalog.Entry?, _ caller: ToolCaller
    ) -> ToolInvocation {
        let (callID, emit) = (call.callID, emit)
        var invocation = ToolInvocation(
            callID: callID, itemID: call.itemID, name: entry?.tool.name ?? call.name,
            source: entry?.source.id ?? "", arguments: call.arguments
        ) { emit(.toolProgress(callID: callID, $0)) }
        invocation.clientID = entry?.tool.clientID
        emit(
            .toolCallRequested(
                ToolExecutionRequest(
                    invocation: invocation, tool: entry?.tool, policy: entry?.policy ?? .automatic,
                    requestedBy: caller)))
        return invocation
    }

    /// Runs one call; it always begins with one `toolCallRequested` and ends with a result and one
    /// `toolCallCompleted`.
    package func run(_ call: ModelToolCall, by caller: ToolCaller) async -> ToolExecutionResult {
        let start = ContinuousClock.now
        let entry = catalog.entry(call.name)
        let invocation = announce(call, entry, caller)
        if Task.isCancelled {
            return finish(invocation, .cancelled, .error("\(call.name) was cancelled."), start)
        }
        guard let entry else {
            return finish(invocation, .failed, .error(unknown(call.name)), start)
        }
        if let problem = problem(with: invocation, of: entry) {
            return finish(invocation, .failed, .error(problem), start)
        }
        var waited = Duration.zero
        do {
            let asked = ContinuousClock.now
            let reason = try await refusal(of: invocation, entry, caller)
            if case .ask = entry.policy { waited = ContinuousClock.now - asked }
            if let reason { return finish(invocation, .denied, .error(reason), start, waited) }
            if entry.tool.meta?[VendorKey.externalSources]?.boolValue == true {
                emit(.externalSources(callID: call.callID))
            }
            let source = entry.source
            let output = try await Race.run(within: timeout(of: entry)) { try await source.call(invocation) }
            return finish(invocation, output.isError ? .failed : .completed, output, start, waited)
        } catch is Race.TimedOut {
            let time = timeout(of: entry).map { "\($0)" } ?? ""
            return finish(
                invocation, .failed, .error("\(call.name) took longer than \(time)."), start, waited)
        } catch {
            let isCancelled = error is CancellationError || Task.isCancelled
            return finish(
                invocation, isCancelled ? .cancelled : .failed,
                .error(isCancelled ? "\(call.name) was cancelled." : "\(call.name) failed: \(error)"), start,
                waited)
        }
    }

    /// A tool that waits for a person may ask for more time than others have.
    private func timeout(of entry: ToolCatalog.Entry) -> Duration? {
        limits.toolTimeout.map { max($0, entry.tool.declaredTimeout ?? .zero) }
    }

    private func unknown(_ name: String) -> String {
        let names = catalog.entries.map(\.name)
        let hint = Suggestion.best(for: name, among: names).map { " Did you mean \($0)?" } ?? ""
        return "No tool named \(name).\(hint)"
    }

    /// Describes what is wrong with the arguments, for the model; nil when they fit.
    private func problem(with invocation: ToolInvocation, of entry: ToolCatalog.Entry) -> String? {
        guard entry.source.checksArguments(of: entry.tool.name) else { return nil }
        guard let arguments = invocation.argumentsJSON else {
            return "The arguments of \(entry.name) are not valid JSON."
        }
        switch entry.input {
        case .failure(let error): return "The input schema of \(entry.name) cannot be used: \(error)"
        case .success(let schema):
            let violations = schema.validate(arguments)
            if violations.isEmpty { return nil }
            let list = violations.prefix(10).map { "- \($0)" }.joined(separator: "\n")
            return "The arguments are not valid for \(entry.name):\n\(list)"
        }
    }

    /// Explains why the call is not allowed to run, for the model; nil when it is allowed.
    ///
    /// A question may be open for long: if the tool is another one when it is answered, it is asked again.
    private func refusal(
        of invocation: ToolInvocation, _ entry: ToolCatalog.Entry, _ caller: ToolCaller
    ) async throws -> String? {
        var (tool, policy) = (entry.tool, entry.policy)
        for _ in 1 ... Self.maxQuestions {
            switch policy {
            case .automatic: return nil
            case .deny: return "\(entry.name) is not allowed."
            case .ask: break
            }
            let request = ApprovalRequest(
                invocation: invocation, tool: tool, sourceName: entry.source.displayName,
                sourceIdentity: entry.source.identity, isTrusted: policies.trusts(entry.source),
                policy: policy, requestedBy: caller,
                timeout: limits.approvalTimeout, asksAnew: policies.asksAnew(tool, of: entry.source))
            let outcome = try await desk.decide(request, emit)
            if case .denied(let reason, _) = outcome.decision {
                return "\(entry.name) was not allowed" + (reason.map { ": \($0)" } ?? " by the user.")
            }
            guard outcome.wasAsked, let changed = try await changed(tool, of: entry.source) else {
                return nil
            }
            (tool, policy) = (changed, policies.policy(for: changed, of: entry.source))
        }
        return "\(entry.name) was not allowed: it changed each time that the user was asked."
    }

    /// The number of questions about one call whose tool changes while it is asked about.
    private static let maxQuestions = 3

    /// Returns the tool as it is now if that differs from what the user was asked about.
    ///
    /// If another client runs it now, that is another tool: the call still goes to the client that was named.
    /// - Throws: what the source throws, and `HarnessError.unknownTool` if the tool is gone.
    private func changed(_ tool: Tool, of source: any ToolSource) async throws -> Tool? {
        let current = try await source.tools().filter { $0.name == tool.name }
        guard let first = current.first else { throw HarnessError.unknownTool(tool.name) }
        let key = DecisionKey(source: source.identity, tool: tool)
        if current.contains(where: { DecisionKey(source: source.identity, tool: $0) == key }) { return nil }
        return first.clientID == tool.clientID ? first : nil
    }

    private func finish(
        _ invocation: ToolInvocation, _ status: ToolExecutionResult.Status, _ output: CallToolResult,
        _ start: ContinuousClock.Instant, _ waited: Duration = .zero
    ) -> ToolExecutionResult {
        let result = ToolExecutionResult(
            invocation: invocation, status: status, output: output, start: start,
            duration: ContinuousClock.now - start - waited, approvalDuration: waited)
        emit(.toolCallCompleted(result))
        return result
    }
}
