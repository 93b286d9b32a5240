import MCPCore

/// Tools that run as tasks (`io.modelcontextprotocol/tasks`).
func registerTaskTools(on server: MCPServer) throws {
    try server.register(Tool("greet", description: "Greets at once", inputSchema: textArgument("name"))) {
        call, _ in .text("Hello, \(call.arguments["name"]?.string ?? "")!")
    }
    let computeSchema: JSONValue = [
        "type": "object",
        "properties": ["seconds": ["type": "number", "minimum": 0], "label": ["type": "string"]],
        "required": ["seconds"],
    ]
    try server.register(
        Tool("slow_compute", description: "Takes its time", inputSchema: computeSchema), task: .optional
    ) { call, context in
        let seconds = call.arguments["seconds"]?.double ?? 0
        if seconds > 0 {
            try await context.becomeTask(statusMessage: "computing", pollInterval: .milliseconds(200))
            try await Task.sleep(for: .seconds(min(seconds, 600)))
        }
        return .text("\(call.arguments["label"]?.string ?? "compute") took \(seconds) s")
    }
    try server.register(Tool("failing_job", description: "Fails after a second"), task: .required) {
        _, context in
        try await context.becomeTask(pollInterval: .milliseconds(200))
        try await Task.sleep(for: .seconds(1))
        throw ToolError("The job failed on purpose")
    }
    try server.register(
        Tool("protocol_error_job", description: "Ends with a protocol error"), task: .required
    ) { _, context in
        try await context.becomeTask(pollInterval: .milliseconds(200))
        try await Task.sleep(for: .milliseconds(300))
        throw MCPError.internalError("The job ended with a protocol error on purpose")
    }
    try server.register(
        Tool(
            "confirm_delete", description: "Asks before it deletes (nothing)",
            inputSchema: textArgument("filename")), task: .required
    ) { call, context in
        try await context.becomeTask(pollInterval: .milliseconds(200))
        let name = call.arguments["filename"]?.string ?? ""
        let form = ElicitationSchema([.boolean("confirm", title: "Delete it", required: true)])
        let answer = try await context.elicit("Delete \(name)?", form, key: "confirm")
        let isConfirmed = answer.action == .accept && answer.content?["confirm"]?.boolValue == true
        return .text(isConfirmed ? "Deleted \(name)" : "Kept \(name)")
    }
    try server.register(Tool("multi_input", description: "Asks two things at once"), task: .required) {
        _, context in
        try await context.becomeTask(pollInterval: .milliseconds(200))
        // The suite answers whatever is asked with a name and a confirmation.
        let form = ElicitationSchema([.string("name", required: true), .boolean("confirm")])
        let answers = try await context.ask([
            "first": .elicit(ElicitRequest("First?", form)),
            "second": .elicit(ElicitRequest("Second?", form)),
        ])
        let names = try ["first", "second"].map { try answers.elicitation($0).content?["name"]?.stringValue }
        return .text(names.map { $0 ?? "" }.joined(separator: " "))
    }
    try server.register(
        Tool("test_tool_with_task", description: "Asks for a name, then runs as a task"), task: .required
    ) { _, context in
        let form = ElicitationSchema([.string("name", required: true)])
        let answer = try await context.elicit("What is your name?", form, key: "user_name")
        try await context.becomeTask(pollInterval: .milliseconds(200))
        try await Task.sleep(for: .milliseconds(300))
        return .text("Hello, \(answer.content?["name"]?.stringValue ?? "stranger")!")
    }
}
