// Calls that may take a long time, log messages to the client, and a prompt with argument completion.
import MCPCore

var options = ServerOptions()
options.tasks = TaskOptions()
let server = MCPServer("reports", version: "1.0", options: options)

let topic: JSONValue = ["type": "object", "properties": ["topic": ["type": "string"]], "required": ["topic"]]
try server.register(
    Tool("report", description: "Writes a report", inputSchema: topic), task: .optional
) { call, context in
    try await context.becomeTask(statusMessage: "collecting", ttl: .seconds(600))
    for step in ["reading", "writing"] {
        // Throws when the client has cancelled the task.
        try Task.checkCancellation()
        context.updateTask(statusMessage: step)
        try await Task.sleep(for: .milliseconds(2))
    }
    var title = call.arguments["topic"]?.string ?? ""
    if context.clientCapabilities.hasElicitation {
        let answer = try await context.elicit("Which title?", ElicitationSchema([.string("title")]))
        title = answer.content?["title"]?.stringValue ?? title
    }
    return .text("A report: \(title)")
}

try server.register(Tool("clean", description: "Deletes old reports")) { _, context in
    await context.log(.info, ["deleted": 3], logger: "store")
    await context.log(.warning, "one report is locked")
    return .text("3 reports deleted")
}

try server.register(
    Prompt("summary", arguments: [PromptArgument("language", required: true), PromptArgument("dialect")])
) { arguments, _ in
    GetPromptResult([.user("Summarize the reports in \(arguments["language"] ?? "English").")])
}
server.addCompletion(.prompt("summary"), "language", ["English", "French", "German", "Italian"])
server.addCompletion(.prompt("summary"), "dialect") { query, _ in
    let dialects = query.arguments["language"] == "German" ? ["Bavarian", "Swiss"] : ["standard"]
    return CompletionResult(dialects.filter { $0.hasPrefix(query.value) })
}
try await server.run(.stdio)
