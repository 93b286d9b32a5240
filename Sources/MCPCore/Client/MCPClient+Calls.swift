extension MCPClient {
    // MARK: Tools

    /// Calls a tool. A tool that failed is a result whose `isError` is true, not an error.
    ///
    /// - Throws: `MCPError` when the server answers with an error; `ClientError` when no usable answer came.
    public func callTool(
        _ name: String, _ arguments: JSONObject = [:], options: CallOptions = CallOptions()
    ) async throws -> CallToolResult {
        try await fetch("tools/call", ["name": .string(name), "arguments": .object(arguments)], options)
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
            throw ToolError(result.text.isEmpty ? "\(name) failed without a word" : result.text)
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
    public var tools: PagedSequence<Tool> { pages("tools/list", "tools") }

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
        return try await fetch(
            "prompts/get", ["name": .string(name), "arguments": .object(JSONObject(members))], options)
    }

    // MARK: Life

    /// Measures a round trip: `ping`, which 2026-07-28 replaced by `server/discover`.
    ///
    /// - Throws: `MCPError` or `ClientError` when the server does not answer.
    public func ping(options: CallOptions = CallOptions()) async throws -> Duration {
        let start = conversation.clock.now
        _ = try await request(protocolVersion.isModern ? "server/discover" : "ping", options: options)
        return conversation.clock.now - start
    }

    // MARK: Reading results

    private func fetch<R: WireType>(
        _ method: String, _ params: JSONObject, _ options: CallOptions
    ) async throws -> R {
        let result = try await request(method, params, options: options)
        return try Self.read(R.self, result.value, method)
    }

    private func pages<E: WireType>(_ method: String, _ member: String) -> PagedSequence<E> {
        PagedSequence { cursor in
            let result = try await self.request(method, cursor.map { ["cursor": .string($0)] } ?? [:])
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
