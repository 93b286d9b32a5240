/// One argument of a tool that is declared by its closure.
///
/// The type comes from the closure's parameter; an optional one need not be given.
public struct Argument<Value: Decodable & Sendable>: Sendable {
    /// The argument's name.
    public let name: String
    /// What it means, for the model.
    public let description: String?

    /// Names an argument.
    public init(_ name: String, _ description: String? = nil) {
        self.name = name
        self.description = description
    }

    /// The argument's value; an absent one is null, which only optional types accept.
    func value(in arguments: RawJSON) throws -> Value {
        do {
            return try (arguments[name] ?? .null).decode(Value.self)
        } catch let error as JSONError {
            throw error.prefixed(by: "/\(name)")
        }
    }

    /// Adds the argument's schema.
    func describe(in properties: inout JSONObject, required: inout [JSONValue]) {
        var schema = SchemaBuilder.schema(for: Value.self)
        if let description, case .object(var object) = schema {
            object["description"] = .string(description)
            schema = .object(object)
        }
        properties[name] = schema
        if !(Value.self is any OptionalArgument.Type) { required.append(.string(name)) }
    }
}

/// An argument that may be left out.
private protocol OptionalArgument {}
extension Optional: OptionalArgument {}

// A duplicate name, or a type without a schema, is a mistake in the program: these forms stop it with a clear
// text. For tools that come from configuration, files or peers there is `register`.
extension MCPServer {
    /// Adds a tool whose arguments are the closure's parameters; it answers at once on the connection's own
    /// thread.
    ///
    /// ```swift
    /// server.addTool("add", "Add two numbers", Argument("a"), Argument("b", "the second")) {
    ///     (a: Double, b: Double?) in a + (b ?? 0)
    /// }
    /// ```
    /// A `String` becomes text, a `CallToolResult` is sent as it is, any other value becomes the structured
    /// result.
    public func addTool<each A: Decodable & Sendable, R: Encodable & Sendable>(
        _ name: String, _ description: String, _ arguments: repeat Argument<each A>,
        annotations: ToolAnnotations? = nil, handler: @escaping @Sendable (repeat each A) throws -> R
    ) {
        let tool = Tool(
            name, description: description, inputSchema: Self.schema(repeat each arguments),
            annotations: annotations)
        add(tool, named: name) { tool throws(RegistrationError) in
            try registerRaw(tool) { raw, _, out in
                try out.write(handler(repeat try (each arguments).value(in: raw)))
            }
        }
    }

    /// Adds a tool whose arguments are the closure's parameters; it runs as a task on the connection's loop.
    public func addTool<each A: Decodable & Sendable, R: Encodable & Sendable>(
        _ name: String, _ description: String, _ arguments: repeat Argument<each A>,
        annotations: ToolAnnotations? = nil,
        // `@concurrent`, because Swift 6.3 crashes on `nonisolated(nonsending)` closures whose parameters are
        // a pack; the task's executor preference keeps the handler on the loop all the same.
        handler: @escaping @Sendable @concurrent (repeat each A) async throws -> R
    ) {
        let tool = Tool(
            name, description: description, inputSchema: Self.schema(repeat each arguments),
            annotations: annotations)
        add(tool, named: name) { tool throws(RegistrationError) in
            try register(tool) { call, _ in
                try CallToolResult(
                    returning: await handler(repeat try (each arguments).value(in: call.arguments)))
            }
        }
    }

    /// Adds a tool whose arguments are one `Decodable` value; the schema is derived from its type.
    ///
    /// ```swift
    /// struct Forecast: Codable, Sendable { var city: String; var days: Int? }
    /// server.addTool("forecast", "Weather", describe: ["city": "City name"]) { (q: Forecast, context) in
    ///     await context.progress(0.5, total: 1)
    ///     return Weather(temperature: 21)
    /// }
    /// ```
    /// - Parameters:
    ///   - describe: what the members mean, by name, for the model.
    ///   - timeout: how long a call may take; nil is the server's `requestDeadline`.
    ///   - task: whether calls become tasks, which the handler does with `RequestContext.becomeTask`.
    public func addTool<Q: Decodable & Sendable, R: Encodable & Sendable>(
        _ name: String, _ description: String, describe: [String: String] = [:],
        annotations: ToolAnnotations? = nil, timeout: Duration? = nil, task: TaskSupport = .never,
        handler: @escaping @Sendable (Q, RequestContext) async throws -> R
    ) {
        let tool = Tool(
            name, description: description, inputSchema: Self.schema(of: Q.self, describe: describe),
            annotations: annotations)
        add(tool, named: name) { tool throws(RegistrationError) in
            try register(tool, timeout: timeout, task: task) { call, context in
                try CallToolResult(returning: await handler(call.decode(Q.self), context))
            }
        }
    }

    /// Adds a tool that reads its arguments as JSON and writes its result straight into the answer.
    ///
    /// ```swift
    /// server.addTool("echo", "Repeats a text", schema:
    /// #"{"type":"object","properties":{"text":{"type":"string"}}}"#) {
    ///     (arguments, context, out) in out.text(arguments["text"])
    /// }
    /// ```
    public func addTool(
        _ name: String, _ description: String, schema: String, annotations: ToolAnnotations? = nil,
        handler: @escaping @Sendable (RawJSON, RequestContext, inout ResultWriter) throws -> Void
    ) {
        guard let parsed = try? JSONValue(parsing: schema) else {
            preconditionFailure("the schema of the tool \(name) is not JSON")
        }
        let tool = Tool(name, description: description, inputSchema: parsed, annotations: annotations)
        add(tool, named: name) { tool throws(RegistrationError) in try registerRaw(tool, handler: handler) }
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

    /// A type whose schema is not that of an object cannot be the arguments of a tool.
    private static func schema<Q: Decodable>(of type: Q.Type, describe: [String: String]) -> JSONValue {
        let schema = SchemaBuilder.schema(for: type, describe: describe)
        return schema["type"]?.stringValue == "object" ? schema : ["type": "object"]
    }
}

extension ResultWriter {
    /// Writes what a typed handler returned.
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
    /// What a typed handler returned, as a result.
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
