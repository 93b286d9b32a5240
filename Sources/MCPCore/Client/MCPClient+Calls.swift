extension MCPClient {
    // MARK: Tools

    /// Calls a tool. A failure of the tool is a result whose `isError` is true, not an error.
    ///
    /// - Throws: `MCPError` when the server returns an error; `ClientError` when there was no usable
    ///   response. The kind is `.protocolViolation`, with `result`, when the result does not match the output
    ///   schema of a listed tool (`ClientOptions.checksOutput`). A result whose check would be too costly
    ///   is returned, and the trace has a warning.
    public func callTool(
        _ name: String, _ arguments: JSONObject = [:], options: CallOptions = CallOptions()
    ) async throws -> CallToolResult {
        try result(try await callForJSON(name, arguments, options), of: name)
    }

    /// Calls a tool as `callTool` does, and returns the result also as the server wrote it.
    package func callToolVerbatim(
        _ name: String, _ arguments: JSONObject, options: CallOptions
    ) async throws -> (result: CallToolResult, json: JSONValue) {
        let json = try await callForJSON(name, arguments, options)
        return (try result(json, of: name), json.value)
    }

    private func callForJSON(
        _ name: String, _ arguments: JSONObject, _ options: CallOptions
    ) async throws -> RawJSON {
        let params = JSONObject(unique: [
            .init(key: "name", value: .string(name)), .init(key: "arguments", value: .object(arguments)),
        ])
        return try await request("tools/call", params, options: options)
    }

    private func result(_ json: RawJSON, of name: String) throws(ClientError) -> CallToolResult {
        let result = try Self.read(CallToolResult.self, json.value, "tools/call")
        try checkOutput(result, of: name)
        return result
    }

    /// What a comparison of a result with the output schema of its tool shows.
    package enum OutputCheck: Sendable, Hashable {
        /// The result matches the schema, or the tool has none.
        case matches
        /// The result does not match the schema at these paths.
        case differs([String])
        /// The comparison was too costly, as this text says, so the answer is unknown.
        case stopped(String)
    }

    /// Compares a result with its schema (TOOL-15); an error result does not have to match it.
    package func outputCheck(of result: CallToolResult, of name: String) -> OutputCheck {
        guard connection.options.checksOutput, !result.isError,
            connection.profile?.revision.has(.structured) == true,
            let schema = outputSchema(of: name)
        else { return .matches }
        guard let structured = result.structuredContent else {
            return .differs(["structuredContent is missing"])
        }
        let violations = schema.validate(structured)
        if let first = violations.first, first.isStop { return .stopped(first.message) }
        return violations.isEmpty ? .matches : .differs(violations.map(\.description))
    }

    private func checkOutput(_ result: CallToolResult, of name: String) throws(ClientError) {
        let places: [String]
        switch outputCheck(of: result, of: name) {
        case .matches: return
        case .stopped(let reason):
            return connection.trace(.warning("the result of \(name) is not checked: \(reason)"))
        case .differs(let found): places = found
        }
        var error = ClientError(
            .protocolViolation, "the result of \(name) does not match its output schema",
            hint: "the tool was executed; if the server changed its schema, list the tools again",
            result: RawJSON(result.json))
        error.details = places
        throw error
    }

    private func outputSchema(of name: String) -> CompiledSchema? {
        do {
            return try connection.tools.outputSchema(of: name)
        } catch {
            connection.trace(
                .warning("results of \(name) are not checked; its output schema cannot be used: \(error)"))
            return nil
        }
    }

    /// Calls a tool with an encodable value as its arguments; it must encode as an object.
    ///
    /// - Throws: as above, and `ClientError` of the kind `.invalidRequest` when the value does not encode as
    ///   an object.
    public func callTool(
        _ name: String, encoding arguments: some Encodable & Sendable, options: CallOptions = CallOptions()
    ) async throws -> CallToolResult {
        guard case .object(let object) = try JSONValue(encoding: arguments) else {
            throw ClientError(.invalidRequest, "the arguments of \(name) do not encode as an object")
        }
        return try await callTool(name, object, options: options)
    }

    /// Calls a tool and decodes its result: the structured content; without it, its single text as JSON; and
    /// for a `String`, if that fails, the text itself.
    ///
    /// - Throws: `ToolError` when the tool failed; `MCPError` and `ClientError` as in `callTool`.
    public func call<R: Decodable>(
        _ name: String, _ arguments: JSONObject = [:], as type: R.Type = R.self,
        options: CallOptions = CallOptions()
    ) async throws -> R {
        let json = try await callForJSON(name, arguments, options)
        if let text = Self.onlyText(of: json), !connection.tools.hasOutputSchema(name) {
            return try Self.decode(text: text, name)
        }
        let result = try result(json, of: name)
        if result.isError {
            throw ToolError(result.text.isEmpty ? "\(name) failed without an error message" : result.text)
        }
        if let structured = result.structuredContent { return try Self.decode(structured, name) }
        guard result.content.count == 1, let text = result.content.first?.text else {
            throw ClientError(
                .protocolViolation, "\(name) returned neither structured content nor a single text")
        }
        return try Self.decode(text: text, name)
    }

    /// Returns the text of a successful result that is one text and nothing else, without building a tree;
    /// nil for any other result.
    private static func onlyText(of result: RawJSON) -> String? {
        var content: RawJSON?
        var isPlain = true
        result.forEachMember { key, value in
            if key.bytes.equals("\"content\"") {
                isPlain = isPlain && content == nil && value.kind == .array
                content = value
            } else {
                isPlain =
                    isPlain
                    && (key.bytes.equals("\"resultType\"")
                        || key.bytes.equals("\"_meta\"") && value.kind == .object)
            }
        }
        guard isPlain, let content else { return nil }
        var text: RawJSON?
        var blocks = 0
        content.forEachElement { block in
            blocks += 1
            var (members, types) = (0, 0)
            block.forEachMember { key, value in
                members += 1
                if key.bytes.equals("\"text\"") {
                    text = value
                } else if key.bytes.equals("\"type\""), value.bytes.equals("\"text\"") {
                    types += 1
                }
            }
            // One `type` and one `text`.
            isPlain = isPlain && members == 2 && types == 1 && text != nil
        }
        return isPlain && blocks == 1 ? text?.string : nil
    }

    private static func decode<R: Decodable>(text: String, _ name: String) throws -> R {
        // A text that is no JSON string is the usual case, and a failed attempt costs more than a look.
        if R.self == String.self, text.utf8.first(where: { $0 > 0x20 }) != 0x22, let value = text as? R {
            return value
        }
        if let value = try? JSONValue(parsing: text).decode(R.self) { return value }
        if let value = text as? R { return value }
        throw ClientError(.protocolViolation, "\(name) returned text that is not the expected JSON")
    }

    private static func decode<R: Decodable>(_ structured: JSONValue, _ name: String) throws -> R {
        do {
            return try structured.decode(R.self)
        } catch {
            // Before 2026-07-28, servers wrap a value that is not an object as {"result": …}.
            if let object = structured.objectValue, object.count == 1, let inner = object["result"],
                let value = try? inner.decode(R.self)
            {
                return value
            }
            throw ClientError(
                .protocolViolation, "\(name) returned structured content with an unexpected structure",
                details: ["\(error)"])
        }
    }

    /// All tools, fetched page by page on demand.
    ///
    /// Over HTTP in 2026-07-28, a tool with an unusable `x-mcp-header` annotation is omitted (HDR-19), which
    /// is reported to the trace.
    public var tools: PagedSequence<Tool> {
        let all: PagedSequence<Tool> = pages("tools/list", "tools")
        guard connection.mirrorsArguments(connection.speech) else { return all }
        return PagedSequence { cursor in
            let page = try await all.fetch(cursor)
            return PagedSequence.Page(elements: page.elements.filter(self.isUsable), next: page.next)
        }
    }

    private func isUsable(_ tool: Tool) -> Bool {
        do {
            _ = try HeaderPlan(tool.inputSchema, at: .lenient)
            return true
        } catch {
            connection.trace(
                .warning(
                    "the tool \(tool.name) is omitted: invalid x-mcp-header in its input schema: \(error)"))
            return false
        }
    }

    /// Returns all tools.
    /// - Throws: `MCPError` when the server returns an error; `ClientError` when there was no usable
    ///   response.
    public func listTools() async throws -> [Tool] { try await tools.collect() }

    // MARK: Resources

    /// All resources, fetched page by page on demand.
    public var resources: PagedSequence<Resource> { pages("resources/list", "resources") }

    /// Returns all resources.
    /// - Throws: `MCPError` when the server returns an error; `ClientError` when there was no usable
    ///   response.
    public func listResources() async throws -> [Resource] { try await resources.collect() }

    /// All resource templates, fetched page by page on demand.
    public var resourceTemplates: PagedSequence<ResourceTemplate> {
        pages("resources/templates/list", "resourceTemplates")
    }

    /// Returns all resource templates.
    /// - Throws: `MCPError` when the server returns an error; `ClientError` when there was no usable
    ///   response.
    public func listResourceTemplates() async throws -> [ResourceTemplate] {
        try await resourceTemplates.collect()
    }

    /// Reads a resource; a directory may have several contents.
    ///
    /// - Throws: `MCPError` with -32602 or, from servers before 2026-07-28, -32002 when the resource does not
    ///   exist.
    public func readResource(
        _ uri: String, options: CallOptions = CallOptions()
    ) async throws -> [ResourceContents] {
        let result: RawJSON = try await request("resources/read", ["uri": .string(uri)], options: options)
        return try Self.elements(of: result, "contents", "resources/read")
    }

    // MARK: Prompts

    /// All prompts, fetched page by page on demand.
    public var prompts: PagedSequence<Prompt> { pages("prompts/list", "prompts") }

    /// Returns all prompts.
    /// - Throws: `MCPError` when the server returns an error; `ClientError` when there was no usable
    ///   response.
    public func listPrompts() async throws -> [Prompt] { try await prompts.collect() }

    /// Gets a prompt with its arguments filled in.
    ///
    /// - Throws: `MCPError` when the prompt is unknown or an argument is missing (-32602).
    public func getPrompt(
        _ name: String, _ arguments: [String: String] = [:], options: CallOptions = CallOptions()
    ) async throws -> GetPromptResult {
        let members = arguments.sorted { $0.key < $1.key }.map {
            (key: $0.key, value: JSONValue.string($0.value))
        }
        let json = try await request(
            "prompts/get", ["name": .string(name), "arguments": .object(JSONObject(members))],
            options: options)
        return try Self.read(GetPromptResult.self, json.value, "prompts/get")
    }

    // MARK: Completion, logging, roots

    /// Requests completions of an argument (server/utilities/completion).
    ///
    /// - Parameters:
    ///   - value: the text typed so far.
    ///   - context: the arguments that are already filled in (2025-06-18 and later, COMP-03).
    /// - Throws: `MCPError` -32601 when the server does not support completion, -32602 for an unknown prompt
    ///   or template.
    public func complete(
        _ reference: CompletionReference, argument: String, value: String = "",
        context: [String: String] = [:], options: CallOptions = CallOptions()
    ) async throws -> CompletionResult {
        var params: JSONObject = [
            "ref": reference.json, "argument": ["name": .string(argument), "value": .string(value)],
        ]
        if !context.isEmpty, connection.profile?.revision.has(.completionContext) == true {
            let members = context.sorted { $0.key < $1.key }.map {
                (key: $0.key, value: JSONValue.string($0.value))
            }
            params["context"] = ["arguments": .object(JSONObject(members))]
        }
        let result = try await request("completion/complete", params, options: options)
        return try Self.read(
            CompletionResult.self, result["completion"]?.value ?? .null, "completion/complete")
    }

    /// Sets the minimum severity of the log messages that are wanted: for the session (`logging/setLevel`),
    /// or in 2026-07-28 for later requests.
    ///
    /// - Throws: `MCPError` -32601 when a server before 2026-07-28 does not support logging.
    public func setLoggingLevel(_ level: LoggingLevel) async throws {
        connection.choose(level)
        guard !protocolVersion.isModern else { return }
        _ = try await request("logging/setLevel", ["level": .string(level.rawValue)])
    }

    /// Notifies the server that the roots have changed; it requests them when it needs them. Has no effect in
    /// 2026-07-28, where each request asks for them (ROOT-03), or without `onRoots`.
    ///
    /// - Throws: `ClientError` when the message cannot be sent.
    public func notifyRootsChanged() async throws {
        guard !protocolVersion.isModern, connection.options.onRoots != nil,
            let speech = connection.speech
        else { return }
        try await notify("notifications/roots/list_changed", [:], speech)
    }

    /// Sends a notification.
    func notify(_ method: String, _ params: JSONObject) async throws {
        guard let speech = connection.speech else { return }
        try await notify(method, params, speech)
    }

    private func notify(_ method: String, _ params: JSONObject, _ speech: WireDialect) async throws {
        try await connection.transport.post(
            connection.outbound(connection.notification(method, params), method, speech))
    }

    // MARK: Liveness and caching

    /// Measures a round trip with `ping`, or with `server/discover`, which replaced it in 2026-07-28.
    ///
    /// - Throws: `MCPError` or `ClientError` when the server does not respond.
    public func ping(options: CallOptions = CallOptions()) async throws -> Duration {
        let start = connection.clock.now
        var options = options
        options.usesCache = false
        _ = try await request(protocolVersion.isModern ? "server/discover" : "ping", options: options)
        return connection.clock.now - start
    }

    /// Clears the cached responses: the next lists and reads are sent to the server.
    public func dropCache() { connection.cache.dropAll() }

    // MARK: Reading results

    func pages<E: WireType>(
        _ method: String, _ member: String, _ options: CallOptions = CallOptions()
    ) -> PagedSequence<E> {
        PagedSequence { cursor in
            let result: RawJSON
            do {
                result = try await self.request(
                    method, cursor.map { ["cursor": .string($0)] } ?? [:], options: options)
            } catch let error as MCPError where cursor != nil {
                // The previous pages belong to a list that no longer exists (CACHE-12).
                self.connection.cache.drop(method)
                throw error
            }
            guard let list = result[member]?.elements else { throw Self.missing(member, method) }
            // One malformed entry does not hide the others.
            let elements = list.compactMap { element -> E? in
                do throws(JSONError) { return try E(json: element.value) } catch {
                    let text = "a malformed \(E.self) is omitted: \(error)"
                    self.connection.trace(.warning("\(method): \(text)"))
                    options.onOmission?(text)
                    return nil
                }
            }
            return PagedSequence.Page(elements: elements, next: result["nextCursor"]?.string)
        }
    }

    private static func missing(_ member: String, _ method: String) -> ClientError {
        ClientError(.protocolViolation, "the response to \(method) has no \(member) array")
    }

    private static func elements<E: WireType>(
        of result: RawJSON, _ member: String, _ method: String
    ) throws(ClientError) -> [E] {
        guard let elements = result[member]?.elements else { throw missing(member, method) }
        var values: [E] = []
        values.reserveCapacity(elements.count)
        for element in elements { values.append(try read(E.self, element.value, method)) }
        return values
    }

    private static func read<T: WireType>(
        _ type: T.Type, _ json: JSONValue, _ method: String
    ) throws(ClientError) -> T {
        do {
            return try T(json: json)
        } catch {
            throw ClientError(
                .protocolViolation, "the response to \(method) contains a malformed \(type)",
                details: ["\(error)"]
            )
        }
    }
}
