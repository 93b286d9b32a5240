import MCPCore

/// The requests of the view.
extension AppBridgeMachine {
    mutating func receive(request method: String, _ params: JSONValue?, _ id: JSONValue) -> [Effect] {
        do throws(MCPError) {
            if method == "ping" { return [Self.result(id, [:])] }
            if method == "ui/initialize" { return try initialize(params, id) }
            guard state == .initializing || state == .ready || state == .tearingDown else {
                throw MCPError.invalidRequest("The first request of a view must be ui/initialize.")
            }
            // A response with the same id would belong to the first request.
            guard !viewRequests.values.contains(id) else {
                return [.notify(.dropped(reason: "the id of \(method) is already in use"))]
            }
            let request = try request(method, params)
            if case .displayMode(let mode) = request, !mayShow(mode) {
                return [Self.result(id, ["mode": .string((context.displayMode ?? .inline).rawValue)])]
            }
            guard viewRequests.count < limits.maxOpenRequests else {
                throw Self.refusal("\(limits.maxOpenRequests) requests are open; wait for a response first.")
            }
            let requestID = ViewRequestID(number: nextNumber())
            viewRequests[requestID] = id
            return [.perform(request, id: requestID)] + follow(requestID, params)
        } catch {
            return [Self.failure(id, error)]
        }
    }

    private mutating func initialize(_ params: JSONValue?, _ id: JSONValue) throws(MCPError) -> [Effect] {
        guard params?["protocolVersion"]?.stringValue != nil else {
            throw Self.missing("protocolVersion", "a string")
        }
        do {
            appInfo = try Implementation(json: params?["appInfo"] ?? .null)
        } catch {
            throw MCPError.invalidParams("appInfo: \(error)")
        }
        guard let declared = (params?["appCapabilities"] ?? [:]).objectValue else {
            throw Self.missing("appCapabilities", "an object")
        }
        appCapabilities = AppCapabilities(json: declared)
        toldContext = context
        // A page that mounts twice keeps its state.
        if state != .ready, state != .tearingDown { state = .initializing }
        return [
            Self.result(
                id,
                [
                    "protocolVersion": .string(UIExtension.version), "hostInfo": hostInfo.json,
                    "hostCapabilities": .object(capabilities.json), "hostContext": .object(context.json),
                ])
        ]
    }

    /// Returns whether a view may be shown in a mode: both the view and the host must have declared it.
    private func mayShow(_ mode: DisplayMode) -> Bool {
        mode != context.displayMode && appCapabilities?.availableDisplayModes.contains(mode) == true
            && context.availableDisplayModes?.contains(mode) == true
    }

    // MARK: Validation

    private static func missing(_ name: String, _ kind: String) -> MCPError {
        .invalidParams("\(name) must be \(kind).")
    }

    private func request(_ method: String, _ json: JSONValue?) throws(MCPError) -> ViewRequest {
        guard let params = (json ?? [:]).objectValue else { throw Self.missing("params", "an object") }
        switch method {
        case "ui/open-link": return try openLink(params)
        case "ui/message": return try message(params)
        case "ui/update-model-context": return try modelContext(params)
        case "ui/request-display-mode":
            guard let mode = params["mode"]?.stringValue else { throw Self.missing("mode", "a string") }
            // An unknown mode counts as one that is not available.
            return .displayMode(DisplayMode(rawValue: mode) ?? context.displayMode ?? .inline)
        case "ui/download-file": return try download(params)
        case "tools/call" where capabilities.serverTools: return try callTool(params)
        case "tools/list" where capabilities.serverTools,
            "resources/list" where capabilities.serverResources,
            "resources/templates/list" where capabilities.serverResources,
            "prompts/list" where capabilities.serverPrompts:
            return .forward(method: method, params: params)
        case "resources/read" where capabilities.serverResources:
            guard params["uri"]?.stringValue != nil else { throw Self.missing("uri", "a string") }
            return .forward(method: method, params: params)
        case "sampling/createMessage" where capabilities.sampling:
            guard capabilities.samplingTools || params["tools"] == nil else {
                throw MCPError.invalidParams("The host does not support sampling with tools.")
            }
            return .sample(params: params)
        default: throw MCPError.methodNotFound(method)
        }
    }

    private func openLink(_ params: JSONObject) throws(MCPError) -> ViewRequest {
        guard let url = params["url"]?.stringValue else { throw Self.missing("url", "a string") }
        guard WebAddress.isOne(url) else {
            throw Self.refusal("Only http and https addresses of at most 8 KiB are opened.")
        }
        return .openLink(url: url)
    }

    private func message(_ params: JSONObject) throws(MCPError) -> ViewRequest {
        guard params["role"]?.stringValue == "user" else { throw Self.missing("role", "\"user\"") }
        let content = try blocks(params, "content")
        guard !content.isEmpty else {
            throw MCPError.invalidParams("content is empty, so there is no message.")
        }
        return .message(content: content)
    }

    private func modelContext(_ params: JSONObject) throws(MCPError) -> ViewRequest {
        let structured = params["structuredContent"]
        guard structured == nil || structured?.objectValue != nil else {
            throw Self.missing("structuredContent", "an object")
        }
        let content = params["content"] == nil ? [] : try blocks(params, "content")
        return .updateModelContext(content: content, structured: structured?.objectValue)
    }

    private func download(_ params: JSONObject) throws(MCPError) -> ViewRequest {
        let contents = try blocks(params, "contents")
        guard !contents.isEmpty, contents.allSatisfy({ $0.resource != nil || $0.link != nil }) else {
            throw Self.missing("contents", "a list of resources and links to resources")
        }
        return .download(contents)
    }

    private func callTool(_ params: JSONObject) throws(MCPError) -> ViewRequest {
        guard let name = params["name"]?.stringValue else { throw Self.missing("name", "a string") }
        guard let arguments = (params["arguments"] ?? [:]).objectValue else {
            throw Self.missing("arguments", "an object")
        }
        return .callTool(name: name, arguments: arguments, meta: params["_meta"]?.objectValue)
    }

    /// Returns the content blocks: a list, or a single block as in older versions of the specification.
    private func blocks(_ params: JSONObject, _ key: String) throws(MCPError) -> [ContentBlock] {
        let items: [JSONValue]
        switch params[key] {
        case .array(let list): items = list
        case .object(let block): items = [.object(block)]
        default: throw Self.missing(key, "a list of content blocks")
        }
        do {
            return try items.map { item throws(JSONError) in try ContentBlock(json: item) }
        } catch {
            throw MCPError.invalidParams("\(key): \(error)")
        }
    }
}
