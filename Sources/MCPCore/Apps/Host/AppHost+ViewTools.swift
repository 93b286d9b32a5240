/// Tools that views offer (MCP Apps, "App-provided tools").
extension AppHost {
    /// The tools of a view as a source for the harness; nil when it offers none.
    func viewSource(_ id: String) -> AppToolSource? {
        guard let record = views[id], !record.tools.isEmpty else { return nil }
        return AppToolSource(
            id: ToolSourceID(id), displayName: "view of \(record.view.tool), \(record.view.serverName)",
            list: { [weak self] in await self?.views[id]?.tools ?? [] },
            call: { [weak self] name, arguments in
                guard let self else { throw CancellationError() }
                let request = HostRequest.callTool(name: name, arguments: arguments)
                return try CallToolResult(json: await self.ask(request, of: id))
            })
    }

    /// Asks a view, and waits for its answer, for `AppHostOptions.timeout` at most.
    /// - Throws: `MCPError` when the view answers with an error, is closed, or does not answer.
    func ask(_ request: HostRequest, of id: String) async throws -> JSONValue {
        guard var record = views[id] else { throw Self.refusal("The view is closed.") }
        let (requestID, effects) = record.machine.request(request)
        views[id] = record
        let timer = Task { [timeout = options.timeout] in
            guard (try? await Task.pause(for: timeout)) != nil else { return }
            giveUp(requestID, of: id, "The view did not answer in time.")
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                views[id]?.answers[requestID] = continuation
                update(id) { _ in effects }
            }
        } onCancel: {
            Task { await self.giveUp(requestID, of: id, "The call was cancelled.") }
        }
    }

    private func giveUp(_ requestID: HostRequestID, of id: String, _ reason: String) {
        guard let continuation = views[id]?.answers.removeValue(forKey: requestID) else { return }
        update(id) { $0.giveUp(requestID) }
        continuation.resume(throwing: Self.refusal(reason))
    }

    /// Reads the tools of a view, all pages, the first 50, in place of a reading that still goes on.
    func readViewTools(_ id: String) {
        views[id]?.toolsReading?.cancel()
        views[id]?.toolsReading = Task {
            var tools: [Tool] = []
            var cursor: String?
            repeat {
                guard let page = try? await ask(.listTools(cursor: cursor), of: id), !Task.isCancelled
                else { return }
                let found = (page["tools"]?.arrayValue ?? []).compactMap { try? Tool(json: $0) }
                // A page without a tool leads nowhere, whatever it says of a next one.
                cursor = found.isEmpty ? nil : page["nextCursor"]?.stringValue
                tools += found
            } while cursor != nil && tools.count < AppToolSource.maxTools
            guard views[id] != nil else { return }
            views[id]?.tools = Array(tools.prefix(AppToolSource.maxTools))
            let name = views[id].map { "view of \($0.view.serverName)" } ?? ""
            log(name, .info, "offers \(tools.count) tools")
            emit(.viewTools(view: id, views[id]?.tools ?? []))
        }
    }
}
