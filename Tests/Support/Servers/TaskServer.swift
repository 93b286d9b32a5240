package import MCPCore

/// The tools of the tasks scenarios, whose work goes on when the test says so.
package final class TaskServer: Sendable {
    package let server: MCPServer
    /// Opened by the test: lets `slow_compute` and `failing_job` end.
    package let release = Gate()
    /// A handler was cancelled.
    package let cancelled = Gate()
    /// A handler has returned.
    package let returned = Counter()

    /// - Parameters:
    ///   - store: shared with other instances, which have the same key.
    package init(
        _ options: TaskOptions? = TaskOptions(), limits: ServerLimits = ServerLimits(),
        store: SharedStore? = nil, stateKey: [UInt8]? = nil, middleware: [any ServerMiddleware] = []
    ) throws {
        var server = ServerOptions()
        server.middleware = middleware
        server.stateStore = store
        server.stateKey = stateKey
        server.tasks = options
        server.limits = limits
        self.server = MCPServer("tasks", version: "1", options: server)
        self.server.addTool("greet", "Greets", Argument("name")) { (name: String) in "Hello, \(name)!" }
        guard options != nil else { return }
        try addJobs()
        try addQuestions()
    }

    private static func schema(_ properties: JSONObject = [:]) -> JSONValue {
        ["type": "object", "properties": .object(properties)]
    }

    private func addJobs() throws {
        let compute = Tool(
            "slow_compute",
            inputSchema: Self.schema(["seconds": ["type": "number"], "label": ["type": "string"]]))
        try server.register(compute, task: .optional) { [returned, release, cancelled] call, context in
            defer { returned.increment() }
            let label = call.arguments["label"]?.string ?? ""
            if call.arguments["seconds"]?.double == 0 { return .text("\(label) at once") }
            try await context.becomeTask(statusMessage: "computing", ttl: .seconds(120))
            await context.progress(0.5, total: 1)
            await context.log(.error, "working")
            guard await release.wait() else {
                cancelled.open()
                return .text("cancelled: \(context.isCancelled)")
            }
            context.updateTask(statusMessage: "almost")
            return CallToolResult(content: [.text("\(label) done")], structuredContent: ["n": 1])
        }
        try server.register(Tool("failing_job"), task: .required) { [returned, release] _, context in
            defer { returned.increment() }
            try await context.becomeTask()
            await release.wait()
            throw ToolError("the job failed")
        }
        try server.register(Tool("protocol_error_job"), task: .required) { [returned] _, context in
            defer { returned.increment() }
            try await context.becomeTask()
            throw MCPError(code: 4711, message: "no such account", data: ["account": 7])
        }
    }

    private func addQuestions() throws {
        let delete = Tool("confirm_delete", inputSchema: Self.schema(["filename": ["type": "string"]]))
        try server.register(delete, task: .optional) { [returned] call, context in
            defer { returned.increment() }
            try await context.becomeTask()
            let name = call.arguments["filename"]?.string ?? ""
            let answer = try await context.elicit(
                "Delete \(name)?", ElicitationSchema([.boolean("confirm", required: true)]), key: "confirm")
            return .text(
                "\(name): \(answer.action.rawValue) \(answer.content?["confirm"]?.boolValue ?? false)")
        }
        try server.register(Tool("multi_input"), task: .optional) { [returned] _, context in
            defer { returned.increment() }
            try await context.becomeTask()
            let schema = ElicitationSchema([.string("v", required: true)])
            let answers = try await context.ask([
                "first": .elicit("First?", schema), "second": .elicit("Second?", schema),
            ])
            let values = try ["first", "second"].map {
                try answers.elicitation($0).content?["v"]?.stringValue ?? ""
            }
            return .text(values.joined(separator: " "))
        }
        try server.register(Tool("test_tool_with_task"), task: .required) { [returned] _, context in
            defer { returned.increment() }
            let answer = try await context.elicit(
                "What is your name?", ElicitationSchema([.string("name", required: true)]), key: "user_name")
            try await context.becomeTask()
            return .text("Hello, \(answer.content?["name"]?.stringValue ?? "")!")
        }
    }
}

extension RawClient {
    package static let tasksCapability: JSONValue = [
        "elicitation": [:], "extensions": ["io.modelcontextprotocol/tasks": [:]],
    ]

    /// A request that declares the tasks extension.
    package func taskRequest(_ method: String, _ params: JSONObject, id: JSONValue? = nil) async -> RawReply {
        var params = params
        var meta = params["_meta"]?.objectValue ?? JSONObject()
        meta["io.modelcontextprotocol/clientCapabilities"] = Self.tasksCapability
        params["_meta"] = .object(meta)
        return await request(method, params, id: id)
    }

    package func taskCall(_ tool: String, _ arguments: JSONObject = [:]) async -> RawReply {
        await taskRequest("tools/call", ["name": .string(tool), "arguments": .object(arguments)])
    }

    /// The first notification of this kind, once it has come; nil after 10 seconds.
    package func heard(_ method: String, where fits: (RawJSON) -> Bool = { _ in true }) async -> RawJSON? {
        let clock = SystemClock()
        let limit = clock.now + .seconds(10)
        while clock.now < limit {
            if let found = heard.first(where: { $0["method"]?.string == method && fits($0) }) { return found }
            await pause()
        }
        return nil
    }

    package func task(_ id: String) async -> RawJSON? {
        await taskRequest("tasks/get", ["taskId": .string(id)]).result
    }

    /// Asks for the task until it has this status; nil when it never has.
    package func task(_ id: String, until status: String) async -> RawJSON? {
        for _ in 0 ..< 5_000 {
            let task = await task(id)
            if task?["status"]?.string == status { return task }
            if task == nil { return nil }
            await pause()
        }
        return nil
    }
}
