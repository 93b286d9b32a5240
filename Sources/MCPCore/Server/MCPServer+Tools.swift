/// Tools: `register` throws an error for an invalid tool, `addTool` stops the program.
extension MCPServer {
    /// Registers a tool with asynchronous code, which runs as a task on the connection's loop.
    ///
    /// - Parameters:
    ///   - timeout: the time limit of a call; nil uses the server's `requestDeadline`.
    ///   - task: whether calls become tasks, which the handler does with `RequestContext.becomeTask`.
    ///   - scopes: the scopes that a call requires of callers with access tokens; lists show the tool to
    ///     those who have them and to those who can obtain them.
    /// - Throws: `RegistrationError` when the name is taken or is not a valid tool name, a schema is not
    ///   valid, or the tool supports tasks and `ServerOptions.tasks` is nil.
    public func register(
        _ tool: Tool, timeout: Duration? = nil, task: TaskSupport = .never, scopes: [String] = [],
        handler: @escaping @Sendable (ToolCall, RequestContext) async throws -> CallToolResult
    ) throws(RegistrationError) {
        guard task == .never || options.tasks != nil else {
            throw RegistrationError(
                "the tool \(tool.name) supports tasks, but tasks are turned off; "
                    + "set ServerOptions.tasks to turn them on")
        }
        try register(
            ToolEntry(tool, timeout: timeout, task: task, scopes: scopes, handler: .asynchronous(handler)))
    }

    /// Registers a tool whose code blocks or computes for a long time; it runs on a thread of
    /// the system's pool.
    ///
    /// - Throws: `RegistrationError` when the name is taken or is not a valid tool name, or a
    ///   schema is not valid.
    public func registerBlocking(
        _ tool: Tool, timeout: Duration? = nil, scopes: [String] = [],
        handler: @escaping @Sendable (ToolCall, RequestContext) throws -> CallToolResult
    ) throws(RegistrationError) {
        try register(ToolEntry(tool, timeout: timeout, scopes: scopes, handler: .offloaded(handler)))
    }

    /// Registers a synchronous tool that writes its result directly into the response, which is
    /// the fastest form.
    ///
    /// The code runs on the connection's own thread and must not block.
    /// - Throws: `RegistrationError` when the name is taken or is not a valid tool name, or a
    ///   schema is not valid.
    public func registerRaw(
        _ tool: Tool, scopes: [String] = [],
        handler: @escaping @Sendable (RawJSON, RequestContext, inout ResultWriter) throws -> Void
    ) throws(RegistrationError) {
        try register(ToolEntry(tool, timeout: nil, scopes: scopes, handler: .synchronous(handler)))
    }

    /// Registers a tool whose arguments are mended where they do not fit its schema.
    ///
    /// - Parameter mending: returns arguments in place of those that do not fit, or nil. They are checked.
    package func register(
        _ tool: Tool, timeout: Duration?, task: TaskSupport,
        mending: (@Sendable (RawJSON) -> RawJSON?)?,
        handler: @escaping @Sendable (ToolCall, RequestContext) async throws -> CallToolResult
    ) throws(RegistrationError) {
        try register(
            ToolEntry(tool, timeout: timeout, task: task, mending: mending, handler: .asynchronous(handler)))
    }

    func register(_ entry: ToolEntry) throws(RegistrationError) {
        try update { (draft) throws(RegistrationError) in
            if draft.tools.contains(where: { $0.tool.name == entry.tool.name }) {
                throw RegistrationError("the tool \(entry.tool.name) is already registered")
            }
            draft.tools.append(entry)
        }
    }

    /// Removes a tool; calls in flight continue. Returns false when there is no tool with this name.
    @discardableResult
    public func unregisterTool(_ name: String) -> Bool {
        remove(from: \.tools) { $0.tool.name == name }
    }

    // MARK: Tools declared by their closures

    /// Adds a tool whose arguments are the closure's parameters; it runs synchronously on the
    /// connection's own thread.
    ///
    /// ```swift
    /// server.addTool("add", "Add two numbers", Argument("a"), Argument("b", "the second")) {
    ///     (a: Double, b: Double?) in a + (b ?? 0)
    /// }
    /// ```
    /// A `String` becomes text, a `CallToolResult` is sent as is, and any other value becomes the
    /// structured result.
    ///
    /// - Precondition: `name` is valid and not taken; for names that are not constants, use `register`, which
    ///   throws `RegistrationError`.
    public func addTool<each A: Decodable & Sendable, R: Encodable & Sendable>(
        _ name: String, _ description: String, _ arguments: repeat Argument<each A>,
        annotations: ToolAnnotations? = nil, scopes: [String] = [],
        handler: @escaping @Sendable (repeat each A) throws -> R
    ) {
        let tool = Tool(
            name, description: description, inputSchema: Self.schema(repeat each arguments),
            annotations: annotations)
        add(tool, named: name) { tool throws(RegistrationError) in
            try registerRaw(tool, scopes: scopes) { raw, _, out in
                try out.write(handler(repeat try (each arguments).value(in: raw)))
            }
        }
    }

    /// Adds a tool whose arguments are the closure's parameters; it runs as a task on the connection's loop.
    public func addTool<each A: Decodable & Sendable, R: Encodable & Sendable>(
        _ name: String, _ description: String, _ arguments: repeat Argument<each A>,
        annotations: ToolAnnotations? = nil, scopes: [String] = [],
        // `@concurrent`, because Swift 6.3 crashes on `nonisolated(nonsending)` closures with a parameter
        // pack; the task's executor preference still keeps the handler on the loop.
        handler: @escaping @Sendable @concurrent (repeat each A) async throws -> R
    ) {
        let tool = Tool(
            name, description: description, inputSchema: Self.schema(repeat each arguments),
            annotations: annotations)
        add(tool, named: name) { tool throws(RegistrationError) in
            try register(tool, scopes: scopes) { call, _ in
                try CallToolResult(
                    returning: await handler(repeat try (each arguments).value(in: call.arguments)))
            }
        }
    }

    /// Adds a tool whose arguments are a single `Decodable` value; the schema is derived from its type.
    ///
    /// ```swift
    /// struct Forecast: Codable, Sendable { var city: String; var days: Int? }
    /// server.addTool("forecast", "Weather", describe: ["city": "City name"]) { (q: Forecast, context) in
    ///     await context.progress(0.5, total: 1)
    ///     return Weather(temperature: 21)
    /// }
    /// ```
    /// - Parameters:
    ///   - describe: descriptions of the members for the model, by member name.
    ///   - timeout: the time limit of a call; nil uses the server's `requestDeadline`.
    ///   - task: whether calls become tasks, which the handler does with `RequestContext.becomeTask`.
    public func addTool<Q: Decodable & Sendable, R: Encodable & Sendable>(
        _ name: String, _ description: String, describe: [String: String] = [:],
        annotations: ToolAnnotations? = nil, timeout: Duration? = nil, task: TaskSupport = .never,
        scopes: [String] = [],
        handler: @escaping @Sendable (Q, RequestContext) async throws -> R
    ) {
        let tool = Tool(
            name, description: description, inputSchema: Self.schema(of: Q.self, describe: describe),
            annotations: annotations)
        add(tool, named: name) { tool throws(RegistrationError) in
            try register(tool, timeout: timeout, task: task, scopes: scopes) { call, context in
                try CallToolResult(returning: await handler(call.decode(Q.self), context))
            }
        }
    }

    /// Adds a tool that reads its arguments as JSON and writes its result directly into the response.
    ///
    /// ```swift
    /// server.addTool("echo", "Repeats a text", schema:
    /// #"{"type":"object","properties":{"text":{"type":"string"}}}"#) {
    ///     (arguments, context, out) in out.text(arguments["text"])
    /// }
    /// ```
    public func addTool(
        _ name: String, _ description: String, schema: String, annotations: ToolAnnotations? = nil,
        scopes: [String] = [],
        handler: @escaping @Sendable (RawJSON, RequestContext, inout ResultWriter) throws -> Void
    ) {
        guard let parsed = try? JSONValue(parsing: schema) else {
            preconditionFailure("the schema of the tool \(name) is not JSON")
        }
        let tool = Tool(name, description: description, inputSchema: parsed, annotations: annotations)
        add(tool, named: name) { tool throws(RegistrationError) in
            try registerRaw(tool, scopes: scopes, handler: handler)
        }
    }

    private func add(
        _ tool: Tool, named name: String, _ body: (Tool) throws(RegistrationError) -> Void
    ) {
        do {
            try body(tool)
        } catch {
            preconditionFailure("cannot add the tool \(name): \(error)")
        }
    }

    private static func schema<each A: Decodable & Sendable>(_ arguments: repeat Argument<each A>)
        -> JSONValue
    {
        var properties = JSONObject()
        var required: [JSONValue] = []
        repeat (each arguments).describe(in: &properties, required: &required)
        var schema: JSONObject = ["type": "object", "properties": .object(properties)]
        if !required.isEmpty { schema["required"] = .array(required) }
        schema["additionalProperties"] = false
        return .object(schema)
    }

    /// Returns the schema of a type; a type whose schema does not describe an object, which a tool's
    /// arguments must be, gives a plain object schema.
    private static func schema<Q: Decodable>(of type: Q.Type, describe: [String: String]) -> JSONValue {
        let schema = SchemaBuilder.schema(for: type, describe: describe)
        return schema["type"]?.stringValue == "object" ? schema : ["type": "object"]
    }
}

extension ResultWriter {
    /// Writes the value that a typed handler returned.
    mutating func write(_ value: some Encodable) throws {
        switch value {
        case let text as String: self.text(text)
        case let result as CallToolResult: try self.result(result)
        case let block as ContentBlock: content(block)
        case let blocks as [ContentBlock]: for block in blocks { content(block) }
        default: try structured(value)
        }
    }
}

extension CallToolResult {
    /// Creates a result from the value that a typed handler returned.
    init(returning value: some Encodable) throws {
        switch value {
        case let text as String: self = .text(text)
        case let result as CallToolResult: self = result
        case let block as ContentBlock: self.init(content: [block])
        case let blocks as [ContentBlock]: self.init(content: blocks)
        default: self = .structured(try JSONValue(encoding: value))
        }
    }
}
