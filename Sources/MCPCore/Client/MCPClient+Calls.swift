extension MCPClient {
    // MARK: Tools

    /// Calls a tool. A tool that failed is a result whose `isError` is true, not an error.
    ///
    /// - Throws: `MCPError` when the server answers with an error; `ClientError` when no usable answer
    ///   came, and of the kind `.protocolViolation`, with `result`, when the result does not fit the output
    ///   schema of a tool that was listed (`ClientOptions.checksOutput`).
    public func callTool(
        _ name: String, _ arguments: JSONObject = [:], options: CallOptions = CallOptions()
    ) async throws -> CallToolResult {
        let json = try await request(
            "tools/call", ["name": .string(name), "arguments": .object(arguments)], options: options)
        let result = try Self.read(CallToolResult.self, json.value, "tools/call")
        try check(result, of: name)
        return result
    }

    /// TOOL-15: a result that failed has no shape to keep.
    private func check(_ result: CallToolResult, of name: String) throws(ClientError) {
        guard connection.options.checksOutput, !result.isError,
            connection.profile?.revision.has(.structured) == true,
            let schema = outputSchema(of: name)
        else { return }
        var error = ClientError(
            .protocolViolation, "the result of \(name) does not match its output schema",
            hint: "the tool has run; if the server changed its schema, list the tools again",
            result: RawJSON(result.json))
        if let structured = result.structuredContent {
            let violations = schema.validate(structured)
            if violations.isEmpty { return }
            error.details = violations.map(\.description)
        } else {
            error.details = ["there is no structuredContent"]
        }
        throw error
    }

    private func outputSchema(of name: String) -> CompiledSchema? {
        do {
            return try connection.tools.outputSchema(of: name)
        } catch {
            connection.trace(.warning("results of \(name) are not checked; its output schema: \(error)"))
            return nil
        }
    }

    /// Calls a tool with a value of yours as its arguments; it must encode as an object.
    ///
    /// - Throws: as above, and `ClientError` of the kind `.invalidRequest` when the value is no object.
    public func callTool(
        _ name: String, encoding arguments: some Encodable & Sendable, options: CallOptions = CallOptions()
    ) async throws -> CallToolResult {
        guard case .object(let object) = try JSONValue(encoding: arguments) else {
            throw ClientError(.invalidRequest, "the arguments of \(name) do not encode as an object")
        }
        return try await callTool(name, object, options: options)
    }

    /// Calls a tool and decodes what it returns: its structured content, else its only text as JSON, else,
    /// for a `String`, the text itself.
    ///
    /// - Throws: `ToolError` when the tool failed; `MCPError` and `ClientError` as `callTool` does.
    public func call<R: Decodable>(
        _ name: String, _ arguments: JSONObject = [:], as type: R.Type = R.self,
        options: CallOptions = CallOptions()
    ) async throws -> R {
        let result = try await callTool(name, arguments, options: options)
        if result.isError {
            throw ToolError(result.text.isEmpty ? "\(name) failed without an error message" : result.text)
        }
        if let structured = result.structuredContent { return try Self.decode(structured, name) }
        guard result.content.count == 1, let text = result.content.first?.text else {
            throw ClientError(.protocolViolation, "\(name) returned neither structured content nor one text")
        }
        if let value = try? JSONValue(parsing: text).decode(R.self) { return value }
        if let value = text as? R { return value }
        throw ClientError(.protocolViolation, "\(name) returned a text that is not the expected JSON")
    }

    private static func decode<R: Decodable>(_ structured: JSONValue, _ name: String) throws -> R {
        do {
            return try structured.decode(R.self)
        } catch {
            // Before 2026-07-28 servers wrap what is no object as {"result": …}.
            if let object = structured.objectValue, object.count == 1, let inner = object["result"],
                let value = try? inner.decode(R.self)
            {
                return value
            }
            throw ClientError(
                .protocolViolation, "\(name) returned structured content of another shape",
                details: ["\(error)"])
        }
    }

    /// All tools, page by page as they are asked for.
    ///
    /// Over HTTP in 2026-07-28 a tool with an annotation `x-mcp-header` that cannot be followed is left out
    /// (HDR-19), which the trace tells.
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
                .warning("the tool \(tool.name) is left out: x-mcp-header in its input schema: \(error)"))
            return false
        }
    }

    /// All tools.
    /// - Throws: `MCPError` when the server answers with an error; `ClientError` when no usable answer came.
    public func listTools() async throws -> [Tool] { try await tools.collect() }

    // MARK: Resources

    /// All resources, page by page as they are asked for.
    public var resources: PagedSequence<Resource> { pages("resources/list", "resources") }

    /// All resources.
    /// - Throws: `MCPError` when the server answers with an error; `ClientError` when no usable answer came.
    public func listResources() async throws -> [Resource] { try await resources.collect() }

    /// All resource templates, page by page as they are asked for.
    public var resourceTemplates: PagedSequence<ResourceTemplate> {
        pages("resources/templates/list", "resourceTemplates")
    }

    /// All resource templates.
    /// - Throws: `MCPError` when the server answers with an error; `ClientError` when no usable answer came.
    public func listResourceTemplates() async throws -> [ResourceTemplate] {
        try await resourceTemplates.collect()
    }

    /// Reads a resource; a directory may answer with several contents.
    ///
    /// - Throws: `MCPError` with -32602 or, from servers before 2026-07-28, -32002 when there is none.
    public func readResource(
        _ uri: String, options: CallOptions = CallOptions()
    ) async throws -> [ResourceContents] {
        let result: RawJSON = try await request("resources/read", ["uri": .string(uri)], options: options)
        return try Self.elements(of: result, "contents", "resources/read")
    }

    // MARK: Prompts

    /// All prompts, page by page as they are asked for.
    public var prompts: PagedSequence<Prompt> { pages("prompts/list", "prompts") }

    /// All prompts.
    /// - Throws: `MCPError` when the server answers with an error; `ClientError` when no usable answer came.
    public func listPrompts() async throws -> [Prompt] { try await prompts.collect() }

    /// Fills a prompt in.
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

    /// Asks for values that an argument can be completed to (server/utilities/completion).
    ///
    /// - Parameters:
    ///   - value: what is typed so far.
    ///   - context: arguments that are filled in already (2025-06-18 and later, COMP-03).
    /// - Throws: `MCPError` -32601 when the server completes nothing, -32602 for an unknown prompt or
    ///   template.
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

    /// Chooses the least grave log messages that are wanted: for the session (`logging/setLevel`), in
    /// 2026-07-28 for the requests that follow.
    ///
    /// - Throws: `MCPError` -32601 when a server before 2026-07-28 has no logging.
    public func setLoggingLevel(_ level: LoggingLevel) async throws {
        connection.choose(level)
        guard !protocolVersion.isModern else { return }
        _ = try await request("logging/setLevel", ["level": .string(level.rawValue)])
    }

    /// Tells the server that the roots are others now; it asks for them when it wants them. Without effect in
    /// 2026-07-28, where they are asked for by each request (ROOT-03), and without `onRoots`.
    ///
    /// - Throws: `ClientError` when the message cannot be sent.
    public func notifyRootsChanged() async throws {
        guard !protocolVersion.isModern, connection.options.onRoots != nil,
            let speech = connection.speech
        else { return }
        let method = "notifications/roots/list_changed"
        try await connection.transport.post(
            connection.outbound(MessageEncoder.notification(method), method, speech))
    }

    // MARK: Life

    /// Measures a round trip: `ping`, which 2026-07-28 replaced by `server/discover`.
    ///
    /// - Throws: `MCPError` or `ClientError` when the server does not answer.
    public func ping(options: CallOptions = CallOptions()) async throws -> Duration {
        let start = connection.clock.now
        var options = options
        options.usesCache = false
        _ = try await request(protocolVersion.isModern ? "server/discover" : "ping", options: options)
        return connection.clock.now - start
    }

    /// Forgets the answers that were kept: the next lists and reads ask the server.
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
                // The pages before belong to a list that is no more (CACHE-12).
                self.connection.cache.drop(method)
                throw error
            }
            let elements: [E] = try Self.elements(of: result, member, method)
            return PagedSequence.Page(elements: elements, next: result["nextCursor"]?.string)
        }
    }

    private static func elements<E: WireType>(
        of result: RawJSON, _ member: String, _ method: String
    ) throws(ClientError) -> [E] {
        guard let elements = result[member]?.elements else {
            throw ClientError(.protocolViolation, "the answer to \(method) has no array \(member)")
        }
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
                .protocolViolation, "the answer to \(method) holds a malformed \(type)", details: ["\(error)"]
            )
        }
    }
}
