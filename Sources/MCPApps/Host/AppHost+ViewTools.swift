import MCPCore

/// Tools that views offer (MCP Apps, "App-provided tools").
extension AppHost {
    /// Returns the tools of a view as a source for the harness, or `nil` if it offers none.
    func viewSource(_ id: HostedView.ID) -> AppToolSource? {
        guard let record = views[id], !record.tools.isEmpty else { return nil }
        return AppToolSource(
            id: ToolSourceID(id.rawValue),
            displayName: "view of \(record.view.tool), \(record.view.serverName)",
            list: { [weak self] in await self?.views[id]?.tools ?? [] },
            call: { [weak self] name, arguments in
                guard let self else { throw CancellationError() }
                let request = HostRequest.callTool(name: name, arguments: arguments)
                return try CallToolResult(json: await self.ask(request, of: id))
            })
    }

    /// Sends a request to a view, and waits for its answer for at most `AppHostOptions.timeout`.
    /// - Throws: `MCPError` when the view answers with an error, is closed, or does not answer.
    func ask(_ request: HostRequest, of id: HostedView.ID) async throws -> JSONValue {
        try Task.checkCancellation()
        guard var record = views[id] else { throw Self.refusal("The view is closed.") }
        let (requestID, effects) = record.machine.request(request)
        let answer = OneShot<Result<JSONValue, any Error>>()
        record.answers[requestID] = answer
        views[id] = record
        update(id) { _ in effects }
        // A request that is still here at the end was not answered.
        defer {
            if views[id]?.answers.removeValue(forKey: requestID) != nil {
                update(id) { $0.giveUp(requestID) }
            }
        }
        do {
            return try await Race.run(within: options.timeout) { try await answer.get() }
        } catch is Race.TimedOut {
            throw Self.refusal("The view did not answer in time.")
        }
    }

    /// Reads the first 50 tools of a view, over all pages, in place of a reading that is still in progress.
    func readViewTools(_ id: HostedView.ID) {
        views[id]?.toolsReading?.cancel()
        views[id]?.toolsReading = Task {
            let tools = try? await AppToolSource.allTools { try await ask(.listTools(cursor: $0), of: id) }
            guard let tools, !Task.isCancelled, views[id] != nil else { return }
            views[id]?.tools = tools
            let name = views[id].map { "view of \($0.view.serverName)" } ?? ""
            log(name, .info, "offers \(tools.count) tools")
            emit(.viewTools(view: id, tools))
        }
    }
}
