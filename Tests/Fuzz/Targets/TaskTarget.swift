@testable import MCPCore

/// Tasks: messages to a server whose tools work as tasks. `TASK` in a line stands for the id of the last one.
enum TaskTarget {
    static func check(_ input: [UInt8]) throws {
        var options = ServerOptions()
        var tasks = TaskOptions()
        tasks.maxTasks = 3
        options.tasks = tasks
        let server = MCPServer("fuzz", version: "1", options: options)
        let schema: JSONValue = ["type": "object"]
        try server.register(Tool("work", inputSchema: schema), task: .optional) { call, context in
            try await context.becomeTask(ttl: .seconds(call.arguments["ttl"]?.double ?? 60))
            context.updateTask(statusMessage: call.arguments["status"]?.string ?? "working")
            return .text("done")
        }
        try server.register(Tool("ask", inputSchema: schema), task: .required) { _, context in
            try await context.becomeTask()
            let answer = try await context.elicit("Name?", ElicitationSchema([.string("name")]))
            return .text("\(answer)")
        }
        try blocking("the messages") { try await send(input.lines(atMost: 12), to: server) }
    }

    private static func send(_ lines: [[UInt8]], to server: MCPServer) async throws {
        let connection = server.makeConnection { _ in }
        var task = "none"
        for line in lines {
            let text = line.text.replacingAll("TASK", with: task)
            // What waits for an answer of the client is cancelled with the task that waits for it.
            let answer = await withTaskGroup(of: [UInt8]?.self) { group in
                group.addTask { await connection.handle(Array(text.utf8)) }
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(100))
                    return nil
                }
                let first = await group.next() ?? nil
                group.cancelAll()
                return first
            }
            guard let answer else { continue }
            let json = try JSONValue(parsing: answer)
            for part in json.arrayValue ?? [json] {
                try require(
                    part["jsonrpc"] == "2.0" && (part["result"] == nil) != (part["error"] == nil),
                    "not an answer: \(part.serialized().prefix(300))")
            }
            if let id = json["result"]?["taskId"]?.stringValue
                ?? json["result"]?["task"]?["taskId"]?.stringValue
            {
                task = id
            }
            try require((server.dispatcher.tasks?.count ?? 0) <= 3, "more tasks than the limit")
        }
        connection.close()
        guard let tasks = server.dispatcher.tasks else { return }
        tasks.failAll("end")
        let end = ContinuousClock.now + .seconds(10)
        while tasks.handlersAtWork > 0, ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(1))
        }
        try require(tasks.handlersAtWork == 0, "\(tasks.handlersAtWork) handlers still work")
        try require(tasks.resultBytes >= 0, "\(tasks.resultBytes) bytes of results")
        try require(server.dispatcher.inFlight.count == 0, "requests are left")
    }
}

extension String {
    /// A copy with each occurrence of `word` replaced.
    func replacingAll(_ word: String, with other: String) -> String {
        var (result, rest) = ([UInt8](), Array(utf8)[...])
        let word = Array(word.utf8)
        while !rest.isEmpty {
            if rest.starts(with: word) {
                result += other.utf8
                rest = rest.dropFirst(word.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result.text
    }
}
