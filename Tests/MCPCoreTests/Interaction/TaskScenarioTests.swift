import MCPCore
import Synchronization
import TestSupport
import Testing

/// The scenarios of the tasks extension, each with all its rules, over every leg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TaskScenarioTests {
    private static let identifier = "io.modelcontextprotocol/tasks"

    /// The rules for every task that is shown.
    private static func expectTask(_ task: RawJSON?, _ type: String) throws {
        let json = try #require(task)
        #expect(json["resultType"]?.string == type)
        #expect(json["taskId"]?.string?.isEmpty == false)
        for date in ["createdAt", "lastUpdatedAt"] {
            let text = json[date]?.string ?? ""
            #expect(text.count == 24 && text.hasSuffix("Z") && text.contains("T"))
        }
        #expect(json["ttlMs"]?.int.map { $0 > 0 } == true)
        #expect(json["pollIntervalMs"]?.int.map { $0 > 0 } == true)
        for name in ["ttl", "pollInterval", "requestState", "task"] { #expect(json[name] == nil) }
        #expect(json["result"]?["_meta"]?["io.modelcontextprotocol/related-task"] == nil)
        let status = json["status"]?.string
        #expect((json["result"] != nil) == (status == "completed"))
        #expect((json["error"] != nil) == (status == "failed"))
        #expect((json["inputRequests"] != nil) == (status == "input_required"))
    }

    private static func expectEmpty(_ reply: RawReply) {
        #expect(reply.result?["resultType"]?.string == "complete")
        #expect(reply.result?["taskId"] == nil)
        #expect(reply.answer?["error"] == nil)
    }

    private static func created(_ reply: RawReply) throws -> String {
        try expectTask(reply.result, "task")
        return try #require(reply.result?["taskId"]?.string)
    }

    // tasks-lifecycle. TASK-02, TASK-06, TASK-07, TASK-09, TASK-10, TASK-11, TASK-16, TASK-18
    @Test(arguments: Setting.modern) func lifecycle(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        try await withClient(setting, tasks.server) { client in
            #expect(await client.taskCall("greet", ["name": "Ada"]).text == "Hello, Ada!")
            #expect(await client.taskCall("slow_compute", ["seconds": 0, "label": "x"]).text == "x at once")

            let created = await client.taskCall("slow_compute", ["seconds": 9, "label": "sum"])
            let id = try Self.created(created)
            #expect(created.result?["status"]?.string == "working")
            #expect(created.result?["statusMessage"]?.string == "computing")
            #expect(created.result?["ttlMs"]?.int == 120_000)
            #expect(created.status == setting.status(200))
            // It is there at once, and its request is over.
            let working = await client.task(id)
            try Self.expectTask(working, "complete")
            #expect(working?["status"]?.string == "working")
            #expect(working?["createdAt"]?.string == created.result?["createdAt"]?.string)

            tasks.release.open()
            let done = await client.task(id, until: "completed")
            try Self.expectTask(done, "complete")
            #expect(done?["statusMessage"]?.string == "almost")
            #expect(
                done?["result"]?.value == [
                    "content": [["type": "text", "text": "sum done"]], "structuredContent": ["n": 1],
                ])
            // Cancelling what is done changes nothing.
            Self.expectEmpty(await client.taskRequest("tasks/cancel", ["taskId": .string(id)]))
            #expect(await client.task(id)?["status"]?.string == "completed")
            // PROG-06, LOG-03: nothing but answers came.
            #expect(client.heard.allSatisfy { $0["method"] == nil })
        }
    }

    // tasks-lifecycle, the other ends. TASK-10, TASK-18, CANC-03
    @Test(arguments: Setting.modern) func otherEnds(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        try await withClient(setting, tasks.server) { client in
            let slow = try Self.created(await client.taskCall("slow_compute", ["seconds": 9]))
            Self.expectEmpty(await client.taskRequest("tasks/cancel", ["taskId": .string(slow)]))
            try Self.expectTask(await client.task(slow, until: "cancelled"), "complete")
            #expect(await tasks.cancelled.wait())

            let failing = try Self.created(await client.taskCall("failing_job"))
            tasks.release.open()
            let completed = await client.task(failing, until: "completed")
            try Self.expectTask(completed, "complete")
            #expect(completed?["result"]?["isError"]?.bool == true)
            #expect(completed?["result"]?["content"]?[0]?["text"]?.string == "the job failed")

            let refused = try Self.created(await client.taskCall("protocol_error_job"))
            let failed = await client.task(refused, until: "failed")
            try Self.expectTask(failed, "complete")
            #expect(
                failed?["error"]?.value == [
                    "code": 4711, "message": "no such account", "data": ["account": 7],
                ])
            // The handler of the cancelled task has ended meanwhile, and that changed nothing.
            #expect(await client.task(slow)?["status"]?.string == "cancelled")
        }
        for _ in 0 ..< 10_000 where tasks.server.probe.taskHandlers != 0 { await Task.yield() }
        #expect(tasks.server.probe.taskHandlers == 0)
        #expect(tasks.returned.value == 3)
    }

    // tasks-capability-negotiation. TASK-01, TASK-03, TASK-04, TASK-20, CAP-01, CAP-05 CAP-08
    @Test(arguments: Setting.modern) func capabilityNegotiation(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        tasks.release.open()
        try await withClient(setting, tasks.server) { client in
            let capabilities = await client.request("server/discover").result?["capabilities"]
            #expect(capabilities?["extensions"]?.value == .object([Self.identifier: [:]]))
            #expect(capabilities?["tasks"] == nil)
            let id = try Self.created(await client.taskCall("slow_compute", ["seconds": 9]))

            // Without the declaration in this very request there is no task, whatever was said before.
            let direct = await client.call("slow_compute", ["seconds": 9, "label": "sum"])
            #expect(direct.text == "sum done")
            #expect(direct.result?["resultType"]?.string == "complete")
            for (method, params) in [
                ("tools/call", ["name": "failing_job"]), ("tasks/get", ["taskId": .string(id)]),
                ("tasks/update", ["taskId": .string(id), "inputResponses": [:]]),
                ("tasks/cancel", ["taskId": .string(id)]), ("tasks/get", ["taskId": "unknown"]),
                ("tasks/get", ["x": 1]),
            ] as [(String, JSONObject)] {
                let reply = await client.request(method, params)
                #expect(reply.errorCode == -32021)
                #expect(
                    reply.answer?["error"]?["data"]?.value
                        == ["requiredCapabilities": ["extensions": .object([Self.identifier: [:]])]])
                #expect(reply.status == setting.status(400))
            }
            // Only this key, in this place, is the declaration.
            for capabilities in [
                ["tasks": [:]], ["extensions": [:]], ["extensions": ["io.modelcontextprotocol/task": [:]]],
                ["extensions": .object([Self.identifier: true])],
                ["experimental": .object([Self.identifier: [:]])],
            ] as [JSONValue] {
                let meta: JSONValue = ["io.modelcontextprotocol/clientCapabilities": capabilities]
                let reply = await client.request("tasks/get", ["taskId": .string(id), "_meta": meta])
                #expect(reply.errorCode == -32021)
            }
        }
        #expect(tasks.returned.value == 2)
    }

    // tasks-wire-fields. TASK-06, TASK-09
    @Test(arguments: Setting.modern) func wireFields(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        try await withClient(setting, tasks.server) { client in
            let created = await client.taskCall("slow_compute", ["seconds": 9])
            let id = try Self.created(created)
            #expect(
                created.result?.value.objectValue?.keys.sorted() == [
                    "_meta", "createdAt", "lastUpdatedAt", "pollIntervalMs", "resultType", "status",
                    "statusMessage", "taskId", "ttlMs",
                ])
            let got = await client.task(id)
            #expect(got?.value.objectValue?.keys.sorted() == created.result?.value.objectValue?.keys.sorted())
            #expect(got?["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"]?.string == "tasks")
            #expect(got?["ttlMs"]?.kind == .number && got?["pollIntervalMs"]?.kind == .number)
        }
        // Over stdio nothing ends the handlers of tasks but they themselves.
        tasks.release.open()
    }

    // tasks-request-state-removal: a task never has a requestState. TASK-09, MRTR-02
    @Test(arguments: Setting.modern) func requestStateRemoval(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        try await withClient(setting, tasks.server) { client in
            let id = try Self.created(await client.taskCall("confirm_delete", ["filename": "a.txt"]))
            let asking = await client.task(id, until: "input_required")
            #expect(asking?["requestState"] == nil)
            let update = await client.taskRequest(
                "tasks/update",
                [
                    "taskId": .string(id), "requestState": "ignored",
                    "inputResponses": ["confirm": ["action": "accept", "content": ["confirm": true]]],
                ])
            Self.expectEmpty(update)
            #expect(update.result?["requestState"] == nil)
            let done = await client.task(id, until: "completed")
            try Self.expectTask(done, "complete")
            #expect(done?["result"]?["content"]?[0]?["text"]?.string == "a.txt: accept true")
        }
    }

    // tasks-mrtr-input. TASK-14, TASK-15, TASK-16, TASK-26
    @Test(arguments: Setting.modern) func input(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        try await withClient(setting, tasks.server) { client in
            let id = try Self.created(await client.taskCall("multi_input"))
            let both = await client.task(id, until: "input_required")
            try Self.expectTask(both, "complete")
            let requests = try #require(both?["inputRequests"]?.value.objectValue)
            #expect(requests.keys.sorted() == ["first", "second"])
            for request in requests.values {
                #expect(request["method"] == "elicitation/create")
                #expect(request["params"]?["requestedSchema"]?["type"] == "object")
                #expect(request["id"] == nil && request["jsonrpc"] == nil)
            }
            func update(_ answers: JSONValue) async -> RawReply {
                await client.taskRequest("tasks/update", ["taskId": .string(id), "inputResponses": answers])
            }
            func answer(_ text: String) -> JSONValue {
                ["action": "accept", "content": ["v": .string(text)]]
            }
            // What is not asked changes nothing; what does not fit is refused.
            Self.expectEmpty(await update(["third": answer("3"), "zz": 5]))
            Self.expectEmpty(await update([:]))
            for bad in [["first": 5], ["first": ["action": "accept"]], [], "x", .null] as [JSONValue] {
                let reply = await update(bad)
                #expect(reply.errorCode == -32602)
                #expect(reply.status == setting.status(200))
            }
            Self.expectEmpty(await update(["second": answer("two"), "extra": answer("x")]))
            let partial = await client.task(id)
            #expect(partial?["status"]?.string == "input_required")
            #expect(partial?["inputRequests"]?.value.objectValue?.keys.sorted() == ["first"])
            Self.expectEmpty(await update(["second": answer("again"), "first": answer("one")]))
            let done = await client.task(id, until: "completed")
            #expect(done?["result"]?["content"]?[0]?["text"]?.string == "one two")
            Self.expectEmpty(await update(["first": answer("late")]))
        }
    }

    // tasks-request-headers. TASK-22, HDR-05, HDR-08
    @Test func requestHeaders() async throws {
        let tasks = try TaskServer()
        try await withClient(Setting(leg: .http, version: "2026-07-28"), tasks.server) { client in
            let id = try Self.created(await client.taskCall("slow_compute", ["seconds": 9]))
            for (method, name, isRight) in [
                ("tasks/get", id, true), ("tasks/get", "=?base64?\(Base64.encode(id.utf8))?=", true),
                ("tasks/get", "other", false), ("tasks/get", nil, false), ("tasks/update", "other", false),
                ("tasks/update", nil, false), ("tasks/cancel", "other", false), ("tasks/cancel", nil, false),
                ("tasks/update", id, true), ("tasks/cancel", id, true),
            ] as [(String, String?, Bool)] {
                let number = client.nextID()
                let text =
                    #"{"jsonrpc":"2.0","id":\#(number),"method":"\#(method)","params":{"taskId":"\#(id)","inputResponses":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":\#(RawClient.tasksCapability.serialized())}}}"#
                var headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)]
                if let name { headers.append(("Mcp-Name", name)) }
                let reply = await client.send(text: text, id: number, headers: headers)
                #expect(reply.errorCode == (isRight ? nil : -32020))
                #expect(reply.status == (isRight ? 200 : 400))
            }
        }
    }

    // tasks-dispatch-and-envelope. TASK-16, TASK-21, TASK-24, TASKL-09, JRPC-06
    @Test(arguments: Setting.modern) func dispatchAndEnvelope(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        tasks.release.open()
        try await withClient(setting, tasks.server) { client in
            for id in ["unknown", "", String(repeating: "x", count: 5000)] {
                for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                    let reply = await client.taskRequest(
                        method, ["taskId": .string(id), "inputResponses": [:]])
                    #expect(reply.errorCode == -32602)
                    #expect(reply.status == setting.status(200))
                }
            }
            for params in [["x": 1], ["taskId": 5], ["taskId": .null]] as [JSONObject] {
                for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                    #expect(await client.taskRequest(method, params).errorCode == -32602)
                }
            }
            for method in ["tasks/result", "tasks/list", "tasks/status", "notifications/tasks"] {
                let reply = await client.taskRequest(method, ["taskId": "k"])
                #expect(reply.errorCode == -32601)
                #expect(reply.status == setting.status(404))
            }
            // The parameter of 2025-11-25 decides nothing.
            let ignored = await client.request(
                "tools/call",
                ["name": "slow_compute", "arguments": ["label": "sum"], "task": ["ttl": 60_000]])
            #expect(ignored.text == "sum done")
            let sync = await client.taskRequest(
                "tools/call", ["name": "greet", "arguments": ["name": "Ada"], "task": [:]])
            #expect(sync.text == "Hello, Ada!")
            #expect(sync.result?["resultType"]?.string == "complete")
        }
    }

    // tasks-status-notifications. TASK-19, TASK-20, SUB-03, SUB-05, SUB-12, SUB-13, META-13
    @Test(arguments: Setting.modern) func statusNotifications(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        try await withClient(setting, tasks.server) { client in
            let id = try Self.created(await client.taskCall("slow_compute", ["label": "sum"]))
            let other = try Self.created(await client.taskCall("confirm_delete"))
            let wish: JSONObject = ["notifications": ["taskIds": [.string(id), "unknown"]]]
            let undeclared = await client.request("subscriptions/listen", wish)
            #expect(undeclared.errorCode == -32021)
            #expect(undeclared.status == setting.status(400))

            async let listening = client.taskRequest("subscriptions/listen", wish, id: "sub")
            let acknowledged = await client.heard("notifications/subscriptions/acknowledged")
            #expect(acknowledged?["params"]?["notifications"]?.value == ["taskIds": [.string(id)]])
            let update: JSONObject = [
                "taskId": .string(other), "inputResponses": ["confirm": ["action": "decline"]],
            ]
            Self.expectEmpty(await client.taskRequest("tasks/update", update))
            tasks.release.open()
            #expect(await client.task(id, until: "completed") != nil)
            let news = await client.heard("notifications/tasks") {
                $0["params"]?["status"]?.string == "completed"
            }
            let params = try #require(news?["params"])
            #expect(params["_meta"]?.value == ["io.modelcontextprotocol/subscriptionId": "sub"])
            #expect(params["result"]?["content"]?[0]?["text"]?.string == "sum done")
            #expect(params["resultType"] == nil)
            // All that tasks/get says, and nothing of other tasks.
            var task = await client.task(id)?.value.objectValue
            task?["resultType"] = nil
            task?["_meta"] = params["_meta"]?.value
            #expect(params.value.objectValue == task)
            #expect(client.heard.allSatisfy { $0["params"]?["taskId"].map { $0.string == id } ?? true })
            try await client.cancel("sub")
            #expect(await listening.answer == nil)
        }
    }

    // tasks-required-task-error. TASK-04: before the handler runs, and before its arguments are looked at.
    @Test(arguments: Setting.modern) func requiredTaskError(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        try await withClient(setting, tasks.server) { client in
            for tool in ["failing_job", "protocol_error_job", "test_tool_with_task"] {
                for arguments in [[:], ["extra": 1]] as [JSONObject] {
                    let reply = await client.call(tool, arguments)
                    #expect(reply.errorCode == -32021)
                    #expect(
                        reply.answer?["error"]?["data"]?["requiredCapabilities"]?["extensions"]?.value
                            == .object([Self.identifier: [:]]))
                    #expect(reply.status == setting.status(400))
                }
            }
            #expect(tasks.returned.value == 0)
        }
    }

    // tasks-mrtr-composition. TASK-08
    @Test(arguments: Setting.modern) func composition(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        try await withClient(setting, tasks.server) { client in
            let first = await client.taskCall("test_tool_with_task")
            #expect(first.result?["resultType"]?.string == "input_required")
            #expect(first.result?["taskId"] == nil)
            #expect(first.result?["inputRequests"]?["user_name"]?["method"]?.string == "elicitation/create")
            var retry: JSONObject = [
                "name": "test_tool_with_task", "arguments": [:],
                "inputResponses": ["user_name": ["action": "accept", "content": ["name": "Alice"]]],
            ]
            if let state = first.result?["requestState"]?.value { retry["requestState"] = state }
            let id = try Self.created(await client.taskRequest("tools/call", retry))
            let done = await client.task(id, until: "completed")
            try Self.expectTask(done, "complete")
            #expect(done?["result"]?["content"]?[0]?["text"]?.string == "Hello, Alice!")
        }
    }
}
