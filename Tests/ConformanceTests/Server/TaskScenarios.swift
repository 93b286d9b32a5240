import MCPCore
import TestSupport
import Testing

/// The extension `io.modelcontextprotocol/tasks`; the suite scores none of these.
@Suite("server: tasks", .timeLimit(.minutes(5))) struct TaskScenarios {
    private static let terminal: Set = ["completed", "failed", "cancelled"]

    /// A client that has declared the extension, as all scenarios do but for what they say themselves.
    private func withTasks(
        _ capabilities: JSONObject = SuiteRun.tasks, _ body: (RawClient) async throws -> Void
    ) async throws {
        try await withSuiteClient(SuiteRun.stateless, capabilities: capabilities) { client in
            try await body(client.raw)
        }
    }

    /// Calls a tool that has to become a task.
    private func start(
        _ raw: RawClient, _ tool: String, _ arguments: JSONObject = [:],
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        let result = try await raw.tool(tool, arguments, location)
        #expect(result["resultType"] == "task", sourceLocation: location)
        return try #require(result["taskId"], sourceLocation: location)
    }

    /// The task as soon as `isReached` is true of it, asked for again and again for 10 seconds.
    private func wait(
        _ raw: RawClient, _ task: JSONValue, _ isReached: (JSONValue) -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            let state = try await raw.result("tasks/get", ["taskId": task], location)
            #expect(state["resultType"] == "complete", sourceLocation: location)
            if isReached(state) { return state }
            try #require(ContinuousClock.now < end, "still \(state)", sourceLocation: location)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func waitForEnd(_ raw: RawClient, _ task: JSONValue) async throws -> JSONValue {
        try await wait(raw, task) { Self.terminal.contains($0["status"]?.stringValue ?? "") }
    }

    private func cancel(_ raw: RawClient, _ task: JSONValue) async throws -> JSONValue {
        try await raw.result("tasks/cancel", ["taskId": task])
    }

    /// Nothing of the task itself is in an acknowledgement.
    private func expectAcknowledged(_ result: JSONValue, _ location: SourceLocation = #_sourceLocation) {
        #expect(result["resultType"] == "complete", sourceLocation: location)
        for member in ["taskId", "status", "result", "error", "inputRequests"] {
            #expect(result[member] == nil, sourceLocation: location)
        }
    }

    @Test("tasks-lifecycle: a tool that answers at once") func synchronousTool() async throws {
        try await withTasks { raw in
            let result = try await raw.tool("greet", ["name": "World"])
            #expect(result["resultType"] == "complete")
            #expect(result["taskId"] == nil)
            #expect(result.block("text")?["text"] == "Hello, World!")
        }
    }

    // TASK-09
    @Test("tasks-lifecycle: from its creation to its result") func creation() async throws {
        try await withTasks { raw in
            let task = try await start(raw, "slow_compute", ["seconds": 1, "label": "lifecycle"])
            let working = try await raw.result("tasks/get", ["taskId": task])
            #expect(working["taskId"] == task)
            #expect(working["status"] == "working")
            #expect(working["result"] == nil && working["error"] == nil)
            let ended = try await waitForEnd(raw, task)
            #expect(ended["status"] == "completed")
            #expect(ended["result"]?.block("text")?["text"]?.isFilled == true)
        }
    }

    // TASK-10
    @Test("tasks-lifecycle: failures") func failures() async throws {
        try await withTasks { raw in
            let toolError = try await waitForEnd(raw, try await start(raw, "failing_job"))
            #expect(toolError["status"] == "completed")
            #expect(toolError["result"]?["isError"] == true)
            let protocolError = try await waitForEnd(raw, try await start(raw, "protocol_error_job"))
            #expect(protocolError["status"] == "failed")
            #expect(protocolError["error"]?["code"]?.intValue != nil)
            #expect(protocolError["error"]?["message"]?.isFilled == true)
            #expect(protocolError["result"] == nil)
        }
    }

    // TASK-11, TASK-16
    @Test("tasks-lifecycle: cancellation") func cancellation() async throws {
        try await withTasks { raw in
            let task = try await start(raw, "slow_compute", ["seconds": 60, "label": "cancel"])
            expectAcknowledged(try await cancel(raw, task))
            let ended = try await waitForEnd(raw, task)
            #expect(ended["status"] == "cancelled")
            // Also when it is over.
            expectAcknowledged(try await cancel(raw, task))
        }
    }

    private func expectMissingExtension(
        _ reply: RawReply, _ what: String, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(reply.errorCode == -32021, "\(what)", sourceLocation: location)
        #expect(reply.status == 400, "\(what)", sourceLocation: location)
        let required = reply.answer?["error"]?["data"]?["requiredCapabilities"]
        #expect(
            required?["extensions"]?["io.modelcontextprotocol/tasks"]?.value.isObject == true, "\(what)",
            sourceLocation: location)
    }

    // TASK-01, TASK-03, TASK-20, CAP-01
    @Test("tasks-capability-negotiation") func negotiation() async throws {
        try await withTasks([:]) { raw in
            let capabilities = try await raw.result("server/discover")["capabilities"]
            #expect(capabilities?["extensions"]?["io.modelcontextprotocol/tasks"]?.isObject == true)
            #expect(capabilities?["tasks"] == nil)
            for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                var params: JSONObject = ["taskId": "gate-test"]
                if method == "tasks/update" { params["inputResponses"] = [:] }
                expectMissingExtension(await raw.request(method, params), method)
            }
            for seconds in [0, 0.2] {
                let result = try await raw.tool("slow_compute", ["seconds": JSONValue(seconds)])
                #expect(result["resultType"] == "complete")
                #expect(result["taskId"] == nil && result["task"] == nil)
                #expect(result.block("text") != nil)
            }
            // The declaration of this one request counts.
            let result = try await raw.result(
                "tools/call",
                [
                    "name": "slow_compute", "arguments": ["seconds": 1, "label": "meta"],
                    "_meta": [
                        "io.modelcontextprotocol/clientCapabilities": .object(SuiteRun.tasks)
                    ],
                ])
            #expect(result["resultType"] == "task")
            #expect(result["taskId"]?.isFilled == true)
        }
    }

    // TASK-04
    @Test("tasks-required-task-error") func requiredTask() async throws {
        try await withTasks([:]) { raw in
            for tool in ["failing_job", "test_tool_with_task"] {
                expectMissingExtension(await raw.call(tool), tool)
            }
        }
    }

    // TASK-06
    @Test("tasks-wire-fields, tasks-request-state-removal") func wireFields() async throws {
        try await withTasks { raw in
            let created = try await raw.tool("slow_compute", ["seconds": 1, "label": "wire"])
            #expect(created["resultType"] == "task")
            for member in ["createdAt", "lastUpdatedAt"] {
                let text = try #require(created[member]?.stringValue)
                #expect(text.contains("T") && text.hasSuffix("Z"), "\(text)")
            }
            #expect(created["ttlMs"] != nil)
            #expect(created["ttlMs"]?.isNull == true || (created["ttlMs"]?.intValue ?? 0) > 0)
            if let interval = created["pollIntervalMs"] { #expect((interval.intValue ?? 0) > 0) }
            for member in ["ttl", "pollInterval", "requestState", "task", "result", "error"] {
                #expect(created[member] == nil)
            }
            let ended = try await waitForEnd(raw, try #require(created["taskId"]))
            for member in ["ttl", "pollInterval", "requestState", "task"] { #expect(ended[member] == nil) }
            #expect(ended["result"]?["_meta"]?["io.modelcontextprotocol/related-task"] == nil)
        }
    }

    @Test("tasks-mrtr-input: answers to a task") func input() async throws {
        try await withTasks { raw in
            let task = try await start(raw, "confirm_delete", ["filename": "mrtr-resume.txt"])
            let waiting = try await wait(raw, task) { $0["status"] == "input_required" }
            let requests = try #require(waiting["inputRequests"]?.objectValue)
            #expect(requests.values.map { $0["method"] } == ["elicitation/create"])
            #expect(waiting["requestState"] == nil)
            let key = try #require(requests.keys.first)
            let responses: JSONObject = [key: accept(["confirm": true])]
            let update: JSONObject = ["taskId": task, "inputResponses": .object(responses)]
            expectAcknowledged(try await raw.result("tasks/update", update))
            let ended = try await waitForEnd(raw, task)
            #expect(ended["status"] == "completed")
            #expect(ended["result"]?.block("text")?["text"] == "Deleted mrtr-resume.txt")
        }
    }

    private func accept(_ content: JSONValue) -> JSONValue { ["action": "accept", "content": content] }

    // TASK-16
    @Test("tasks-mrtr-input: one answer after the other") func partialInput() async throws {
        try await withTasks { raw in
            let task = try await start(raw, "multi_input")
            let waiting = try await wait(raw, task) {
                $0["status"] == "input_required" && ($0["inputRequests"]?.objectValue?.count ?? 0) >= 2
            }
            let keys = try #require(waiting["inputRequests"]?.objectValue?.keys.map { $0 })
            // The suite sends the same two values to whatever is asked.
            for (number, key) in keys.enumerated() {
                let content: JSONValue = ["name": .string("partial-\(number + 1)"), "confirm": true]
                let responses: JSONObject = [key: accept(content)]
                expectAcknowledged(
                    try await raw.result(
                        "tasks/update", ["taskId": task, "inputResponses": .object(responses)]))
                guard number == 0 else { continue }
                let still = try await raw.result("tasks/get", ["taskId": task])
                #expect(still["status"] == "input_required")
                #expect(still["inputRequests"]?.objectValue?.keys.map { $0 } == Array(keys.dropFirst()))
            }
            #expect(try await waitForEnd(raw, task)["status"] == "completed")
        }
    }

    @Test("tasks-request-headers") func headers() async throws {
        try await withTasks { raw in
            let task = try await start(raw, "slow_compute", ["seconds": 60, "label": "headers"])
            let id = try #require(task.stringValue)
            var meta = RawPost.meta
            meta["io.modelcontextprotocol/clientCapabilities"] = .object(SuiteRun.tasks)
            for method in ["tasks/get", "tasks/cancel"] {
                let body = RawPost.message(method, ["taskId": task, "_meta": .object(meta)])
                let wrong = try await RawPost(
                    fields: RawPost.standard(method, name: "other"), body: body
                ).send()
                #expect(wrong.status == 400)
                #expect(wrong.code == -32020)
                let right = try await RawPost(fields: RawPost.standard(method, name: id), body: body).send()
                #expect(right.isAccepted)
            }
        }
    }

    // TASK-21, TASK-24
    @Test("tasks-dispatch-and-envelope: methods and ids that do not exist") func unknown() async throws {
        try await withTasks { raw in
            for method in ["tasks/result", "tasks/list"] {
                #expect(await raw.request(method, ["taskId": "any"]).errorCode == -32601, "\(method)")
            }
            for method in ["tasks/get", "tasks/cancel"] {
                #expect(
                    await raw.request(method, ["taskId": "nonexistent-task-id"]).errorCode == -32602,
                    "\(method)")
            }
        }
    }

    // TASK-02, TASK-07, TASK-16, TASK-24
    @Test("tasks-dispatch-and-envelope: the server decides") func dispatch() async throws {
        try await withTasks { raw in
            let hinted = try await raw.result(
                "tools/call",
                [
                    "name": "greet", "arguments": ["name": "legacy-hint"],
                    "task": ["ttl": 60_000, "pollInterval": 100],
                ])
            #expect(hinted["resultType"] == "complete")
            #expect(hinted["taskId"] == nil)
            #expect(hinted.block("text")?["text"] == "Hello, legacy-hint!")
            let instant = try await raw.tool("slow_compute", ["seconds": 0, "label": "instant"])
            #expect(instant["resultType"] == "complete" || instant["taskId"] != nil)
            // There is a task as soon as the client hears of it.
            let task = try await start(raw, "slow_compute", ["seconds": 60, "label": "consistency"])
            #expect(try await raw.result("tasks/get", ["taskId": task])["taskId"] == task)
            expectAcknowledged(try await cancel(raw, task))
            let parked = try await start(raw, "confirm_delete", ["filename": "rt.txt"])
            _ = try await wait(raw, parked) { $0["status"] == "input_required" }
            let update: JSONObject = [
                "taskId": parked, "inputResponses": ["unknown-key": ["ignored": true]],
            ]
            expectAcknowledged(try await raw.result("tasks/update", update))
            expectAcknowledged(try await cancel(raw, parked))
        }
    }

    // TASK-08
    @Test("tasks-mrtr-composition") func composition() async throws {
        try await withTasks { raw in
            let first = try await raw.tool("test_tool_with_task")
            #expect(first["resultType"] == "input_required")
            #expect(first["taskId"] == nil)
            let key = try #require(first["inputRequests"]?.objectValue?.keys.first)
            #expect(key == "user_name")
            var params: JSONObject = ["name": "test_tool_with_task", "arguments": [:]]
            params["inputResponses"] = .object([key: accept(["name": "Alice"])])
            params["requestState"] = first["requestState"]
            let created = try await raw.result("tools/call", params)
            #expect(created["resultType"] == "task")
            let ended = try await waitForEnd(raw, try #require(created["taskId"]))
            #expect(ended["status"] == "completed")
            #expect(ended["result"]?.block("text")?["text"]?.stringValue?.contains("Alice") == true)
        }
    }
}
