import MCPCore

/// The dispatch of the machine's requests and events to the handlers.
extension AppBridgeHandlers {
    func answer(_ request: ViewRequest, _ context: HostContext) async -> Result<JSONValue, MCPError> {
        do {
            return try await outcome(of: request, context)
        } catch let error as MCPError {
            return .failure(error)
        } catch {
            return .failure(AppBridgeMachine.refusal("\(error)"))
        }
    }

    private func outcome(
        of request: ViewRequest, _ context: HostContext
    ) async throws -> Result<JSONValue, MCPError> {
        switch request {
        case .openLink(let url): return try await handler(onOpenLink, "ui/open-link")(url).result
        case .message(let content):
            return try await handler(onMessage, "ui/message")(AppMessage(role: .user, content: content))
                .result
        case .updateModelContext(let content, let structured):
            let update = AppModelContext(content: content, structuredContent: structured)
            return try await handler(onUpdateModelContext, "ui/update-model-context")(update).result
        case .displayMode(let mode):
            // A host that cannot change the mode answers with the current one.
            let held = await onRequestDisplayMode?(mode) ?? context.displayMode ?? .inline
            return .success(["mode": .string(held.rawValue)])
        case .download(let contents):
            return try await handler(onDownloadFile, "ui/download-file")(contents).result
        case .callTool(let name, let arguments, _):
            return .success(try await handler(onToolCall, "tools/call")(name, arguments).json)
        case .forward("resources/read", let params):
            guard let onResourceRead, let uri = params["uri"]?.stringValue else {
                return .success(try await handler(onForward, "resources/read")("resources/read", params))
            }
            return .success(["contents": .array(try await onResourceRead(uri).map(\.json))])
        case .forward(let method, let params):
            return .success(try await handler(onForward, method)(method, params))
        case .sample(let params):
            return .success(try await handler(onCreateMessage, "sampling/createMessage")(params))
        }
    }

    private func handler<H>(_ handler: H?, _ method: String) throws(MCPError) -> H {
        guard let handler else { throw .methodNotFound(method) }
        return handler
    }

    func take(_ event: ViewEvent) async {
        switch event {
        case .initialized: await onInitialized?()
        case .size(let width, let height): await onSizeChange?(ViewSize(width: width, height: height))
        case .log(let level, let logger, let data):
            await onLoggingMessage?(LogMessage(level, data, logger: logger))
        case .requestTeardown: await onRequestTeardown?()
        case .toolsChanged: await onToolsChanged?()
        case .proxyReady, .violation, .navigatedAway, .failedToLoad, .usesWebRTC, .escape, .dropped, .silent:
            await onEvent?(event)
        }
    }
}
