import MCPCore
import MCPHarness

/// Requests from views.
extension AppHost {
    /// The code of a refusal (MCP Apps 2026-01-26, "Error codes").
    static let refused = -32000

    static func refusal(_ text: String) -> MCPError { MCPError(code: refused, message: text) }

    /// Performs a request from a view, and answers it.
    func perform(_ request: ViewRequest, _ requestID: ViewRequestID, _ view: HostedView.ID) async {
        let answer: Result<JSONValue, MCPError>
        do {
            answer = .success(try await outcome(of: request, requestID, view))
        } catch let error as MCPError {
            answer = .failure(error)
        } catch {
            answer = .failure(Self.refusal(Self.words(error)))
        }
        views[view]?.requests[requestID] = nil
        update(view) { $0.answer(requestID, answer) }
    }

    private func outcome(
        of request: ViewRequest, _ requestID: ViewRequestID, _ view: HostedView.ID
    ) async throws -> JSONValue {
        guard let record = views[view] else { throw Self.refusal("The view is closed.") }
        switch request {
        case .openLink(let url): return try await openLink(url, record.view)
        case .message(let content): return try await say(content, record.view)
        case .updateModelContext(let content, let structured):
            return takeContext(content, structured, view)
        case .displayMode(let mode):
            return ["mode": .string((requestMode(mode, of: view) ?? .inline).rawValue)]
        case .download(let contents): return try await download(contents, record.view)
        case .callTool(let name, let arguments, let meta):
            return try await callTool(name, arguments, meta ?? [:], requestID, record.view)
        case .forward(let method, let params): return try await forward(method, params, record.view)
        case .sample(let params):
            let request: CreateMessageRequest
            do {
                request = try CreateMessageRequest(json: .object(params))
            } catch {
                throw MCPError.invalidParams("\(error)")
            }
            return try await sample(request, server: record.view.server, view: view).json
        }
    }

    // MARK: The server

    private func callTool(
        _ name: String, _ arguments: JSONObject, _ meta: JSONObject, _ requestID: ViewRequestID,
        _ view: HostedView
    ) async throws -> JSONValue {
        guard let server = record(ofServer: view.server) else { throw Self.refusal("The server is gone.") }
        guard let entry = server.catalog.entry(name) else {
            throw MCPError.invalidParams("\(view.serverName) has no tool \(name).")
        }
        guard entry.tool.visibility.contains(.app) else {
            throw MCPError.invalidParams("\(name) may not be called by views.")
        }
        let id = open(source: .server(view.server), entry.tool, .object(arguments), by: .view, from: view.id)
        calls[id]?.viewRequest = requestID
        calls[id]?.meta = Self.forwarded(meta)
        let task = Task { await run(id, server.catalog) }
        calls[id]?.cancel = { task.cancel() }
        let end = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        switch end?.answer {
        case .success(let answer) where end?.result.status != .cancelled: return end?.json ?? answer.json
        case .failure(let error as MCPError): throw error
        default: throw Self.refusal(end?.result.output.text ?? "\(name) was not called.")
        }
    }

    /// Returns the members of a view's `_meta` that its server receives: those that are not the protocol's
    /// own, which the host sets. What is longer than 16 KiB is left out.
    static func forwarded(_ meta: JSONObject) -> JSONObject {
        // By bytes, as servers compare: a mark behind the slash would make it another character.
        let reserved = "io.modelcontextprotocol/".utf8
        let own = JSONObject(
            meta.filter { $0.key != "progressToken" && !$0.key.utf8.starts(with: reserved) }
                .map { (key: $0.key, value: $0.value) })
        return JSONValue.object(own).serialized().utf8.count <= maxForwardedMeta ? own : [:]
    }

    /// The size of the `_meta` of a view's call that its server receives: 16 KiB.
    static let maxForwardedMeta = 16 << 10

    /// Forwards a request to the view's own server, and passes the response back as it is.
    private func forward(_ method: String, _ params: JSONObject, _ view: HostedView) async throws -> JSONValue
    {
        guard let connection = record(ofServer: view.server)?.connection else {
            throw Self.refusal("The server is gone.")
        }
        let client = try await connection.connected()
        let result: JSONValue
        do {
            result = try await client.request(method, params).value
        } catch {
            await connection.failed(error, of: client)
            throw error
        }
        guard method == "tools/list", var object = result.objectValue,
            let tools = object["tools"]?.arrayValue
        else { return result }
        // A view need not see the tools that it may not call.
        object["tools"] = .array(
            tools.filter { (try? Tool(json: $0))?.visibility.contains(.app) ?? false })
        return .object(object)
    }

    // MARK: The user's machine

    private func openLink(_ url: String, _ view: HostedView) async throws -> JSONValue {
        guard WebAddress.isOne(url) else { throw Self.refusal("Only http and https links can be opened.") }
        guard try await ask(.link(url), server: view.serverName, view: view.id).isYes else {
            throw Self.refusal("The user declined to open the address.")
        }
        emit(.openLink(url: url))
        return [:]
    }

    /// The number of files that a view may ask to save at once: 50. A request for more is refused.
    static let maxDownloadFiles = 50

    private func download(_ contents: [ContentBlock], _ view: HostedView) async throws -> JSONValue {
        guard contents.count <= Self.maxDownloadFiles else {
            throw Self.refusal("At most \(Self.maxDownloadFiles) files can be saved at once.")
        }
        var files: [(name: String, mimeType: String, contents: ResourceContents?, uri: String)] = []
        for block in contents {
            guard let uri = block.resource?.uri ?? block.link?.uri else {
                throw MCPError.invalidParams("A download consists of resources and links to resources.")
            }
            if block.resource == nil, WebAddress.isOne(uri) {
                throw Self.refusal(
                    "\(uri) is not a resource of \(view.serverName), so it cannot be saved; "
                        + "ask to open it with ui/open-link, or embed its content.")
            }
            let mimeType = MediaType.plain(block.resource?.mimeType ?? block.link?.mimeType)
            files.append((FileNameInURI.name(uri), mimeType, block.resource, uri))
        }
        guard !files.isEmpty else { throw MCPError.invalidParams("The download contains nothing to save.") }
        let asked = files.map {
            HostedFile(name: $0.name, mimeType: $0.mimeType, bytes: $0.contents?.bytes?.count, uri: $0.uri)
        }
        try limitDownload(asked.compactMap(\.bytes))
        guard try await ask(.download(asked), server: view.serverName, view: view.id).isYes else {
            throw Self.refusal("The user declined to save the file.")
        }
        var downloads: [HostedDownload] = []
        for file in files {
            let bytes = try await bytes(of: file.contents, file.uri, view)
            downloads.append(
                HostedDownload(view: view.id, name: file.name, mimeType: file.mimeType, bytes: bytes))
        }
        try limitDownload(downloads.map(\.bytes.count))
        for download in downloads { emit(.download(download)) }
        return [:]
    }

    private func limitDownload(_ sizes: [Int]) throws(MCPError) {
        guard sizes.reduce(0, +) <= Self.maxDownloadBytes else {
            throw Self.refusal("More than \(Self.maxDownloadBytes >> 20) MiB cannot be saved.")
        }
    }

    /// Returns the content of an embedded resource, or of one on the view's server.
    private func bytes(
        of contents: ResourceContents?, _ uri: String, _ view: HostedView
    ) async throws -> [UInt8] {
        if let contents {
            guard let bytes = contents.bytes else { throw MCPError.invalidParams("\(uri) has no content.") }
            return bytes
        }
        guard let connection = record(ofServer: view.server)?.connection else {
            throw Self.refusal("The server is gone.")
        }
        let read = try await connection.connected().readResource(uri)
        guard let bytes = read.first?.bytes else {
            throw Self.refusal("\(uri) has no content that could be saved.")
        }
        return bytes
    }
}
