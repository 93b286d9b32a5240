import MCPCore
import Synchronization
import TestSupport
import Testing

/// Tasks beside everything else: other revisions, deadlines, connections that end, limits.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TaskInteractionTests {
    private static func options(_ change: (inout TaskOptions) -> Void = { _ in }) -> ServerOptions {
        var options = ServerOptions()
        var tasks = TaskOptions()
        change(&tasks)
        options.tasks = tasks
        return options
    }

    private static func id(_ reply: RawReply) throws -> String {
        #expect(reply.result?["resultType"]?.string == "task")
        return try #require(reply.result?["taskId"]?.string)
    }

    /// Waits until no handler works on a task.
    private static func handlersEnd(_ server: MCPServer) async -> Bool {
        for _ in 0 ..< 10_000 {
            if server.probe.taskHandlers == 0 { return true }
            await pause()
        }
        return false
    }

    // MARK: Other revisions

    // TASK-25, TASKL-09, CAP-10: in the handshake revisions every call is answered when its handler returns.
    @Test(arguments: Setting.legacy) func legacy(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        tasks.release.open()
        try await withServer(setting, tasks.server) { served in
            let client = try served.silentClient()
            let opened = await client.request(
                "initialize",
                [
                    "protocolVersion": .string(setting.version),
                    "capabilities": [
                        "extensions": ["io.modelcontextprotocol/tasks": [:]], "tasks": ["list": [:]],
                    ],
                ])
            #expect(opened.result?["capabilities"]?["extensions"] == nil)
            #expect(opened.result?["capabilities"]?["tasks"] == nil)
        }
        try await withClient(setting, tasks.server) { client in
            let reply = await client.request(
                "tools/call",
                [
                    "name": "slow_compute", "arguments": ["label": "sum"], "task": ["ttl": 60_000],
                    "_meta": ["io.modelcontextprotocol/clientCapabilities": RawClient.tasksCapability],
                ])
            #expect(reply.text == "sum done")
            #expect(reply.result?["task"] == nil && reply.result?["resultType"] == nil)
            let failing = await client.call("failing_job")
            #expect(failing.result?["isError"]?.bool == true)
            #expect(await client.call("protocol_error_job").errorCode == 4711)
            for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result"] {
                let reply = await client.request(method, ["taskId": "k", "inputResponses": [:]])
                #expect(reply.errorCode == -32601)
            }
            let tools = await client.request("tools/list").result?["tools"]?.elements ?? []
            #expect(tools.count == 7 && tools.allSatisfy { $0["execution"] == nil })
        }
        #expect(tasks.server.probe.tasks == 0)
    }

    // CAP-06: off until it is turned on.
    @Test(arguments: Setting.modern) func off(_ setting: Setting) async throws {
        let tasks = try TaskServer(nil)
        let error = #expect(throws: RegistrationError.self) {
            try tasks.server.register(Tool("job"), task: .optional) { _, _ in .text("") }
        }
        #expect(error?.description.contains("ServerOptions.tasks") == true)
        try tasks.server.register(Tool("job")) { _, context in
            try await context.becomeTask()
            context.updateTask(statusMessage: "unheard")
            return .text("answered")
        }
        try await withClient(setting, tasks.server) { client in
            #expect(
                await client.request("server/discover").result?["capabilities"]?["extensions"] == nil)
            #expect(await client.taskCall("job").text == "answered")
            for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                let reply = await client.taskRequest(method, ["taskId": "k"])
                #expect(reply.errorCode == -32601)
                #expect(reply.status == setting.status(404))
            }
        }
    }

    // MARK: The call and the task

    // TASK-05: only tools that have tasks, and each call once.
    @Test(arguments: Setting.modern) func whatBecomesATask(_ setting: Setting) async throws {
        let server = MCPServer("tasks", version: "1", options: Self.options())
        try server.register(Tool("never")) { _, context in
            try await context.becomeTask()
            return .text("answered")
        }
        try server.register(Tool("twice"), task: .optional) { _, context in
            try await context.becomeTask(statusMessage: "first")
            try await context.becomeTask(statusMessage: "second")
            return .text("done")
        }
        struct Sum: Codable, Sendable { var a: Int }
        server.addTool("typed", "Adds", task: .required) { (sum: Sum, context) in
            try await context.becomeTask()
            return "\(sum.a + 1)"
        }
        try server.register(Prompt("p")) { _, context in
            try await context.becomeTask()
            return GetPromptResult([.user("hello")])
        }
        try await withClient(setting, server) { client in
            #expect(await client.taskCall("never").text == "answered")
            let prompt = await client.taskRequest("prompts/get", ["name": "p"])
            #expect(prompt.result?["messages"]?[0]?["content"]?["text"]?.string == "hello")
            let id = try Self.id(await client.taskCall("twice"))
            let done = await client.task(id, until: "completed")
            #expect(done?["statusMessage"]?.string == "first")
            let typed = try Self.id(await client.taskCall("typed", ["a": 2]))
            let sum = await client.task(typed, until: "completed")
            #expect(sum?["result"]?["content"]?[0]?["text"]?.string == "3")
            #expect(server.probe.startedTasks == 2)
        }
    }

    // CANC-08, TASK-17, JRPC-03: the request is over, with its deadline, its id and its place.
    @Test(arguments: Setting.modern) func theRequestIsOver(_ setting: Setting) async throws {
        var limits = ServerLimits()
        limits.requestDeadline = .seconds(1)
        limits.maxRequestsInFlight = 2
        let tasks = try TaskServer(limits: limits)
        try await withClient(setting, tasks.server) { client in
            var ids: [String] = []
            for _ in 0 ..< 4 {
                let reply = await client.taskRequest("tools/call", ["name": "slow_compute"], id: "same")
                ids.append(try Self.id(reply))
            }
            // It names a request that is over (CANC-04).
            await client.notify("notifications/cancelled", ["requestId": "same"])
            #expect(tasks.server.probe.requests == 0)
            tasks.server.probe.expireDeadlines()
            // Longer than the request would have had: another request runs into that deadline meanwhile.
            #expect(await client.call("slow_compute").errorCode == MCPError.deadlineExceededCode)
            for id in ids { #expect(await client.task(id)?["status"]?.string == "working") }
            tasks.release.open()
            for id in ids { #expect(await client.task(id, until: "completed") != nil) }
        }
        #expect(await Self.handlersEnd(tasks.server))
    }

    // JRPC-24, JRPC-26: a task belongs to no connection.
    @Test(arguments: Setting.modern) func anotherConnection(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        try await withServer(setting, tasks.server) { served in
            let client = try await served.client()
            let id = try Self.id(await client.taskCall("slow_compute", ["label": "sum"]))
            let other = try await served.client()
            #expect(await other.task(id)?["status"]?.string == "working")
            await client.close()
            tasks.release.open()
            let done = await other.task(id, until: "completed")
            #expect(done?["result"]?["content"]?[0]?["text"]?.string == "sum done")
        }
    }

    // PROG-06, LOG-03: after the answer nothing is sent for the request.
    @Test(arguments: Setting.modern) func silence(_ setting: Setting) async throws {
        let tasks = try TaskServer()
        try await withClient(setting, tasks.server) { client in
            let meta: JSONValue = [
                "progressToken": "p", "io.modelcontextprotocol/logLevel": "debug",
                "io.modelcontextprotocol/clientCapabilities": RawClient.tasksCapability,
            ]
            let id = try Self.id(
                await client.request("tools/call", ["name": "slow_compute", "_meta": meta]))
            tasks.release.open()
            #expect(await client.task(id, until: "completed") != nil)
            #expect(client.heard.allSatisfy { $0["method"] == nil })
        }
    }

    // MRTR-05, MRTR-06: what the client did not declare cannot be asked in a task either.
    @Test(arguments: Setting.modern) func undeclaredQuestions(_ setting: Setting) async throws {
        let server = MCPServer("tasks", version: "1", options: Self.options())
        try server.register(Tool("roots"), task: .required) { _, context in
            try await context.becomeTask()
            return .text("\(try await context.roots().count)")
        }
        try await withClient(setting, server) { client in
            let id = try Self.id(await client.taskCall("roots"))
            let failed = await client.task(id, until: "failed")
            #expect(failed?["error"]?["code"]?.int == -32021)
            #expect(failed?["error"]?["data"]?["requiredCapabilities"]?.value == ["roots": [:]])
        }
    }

    // TOOL-14
    @Test func outputSchema() async throws {
        let server = MCPServer("tasks", version: "1", options: Self.options())
        let tool = Tool("wrong", outputSchema: ["type": "object", "required": ["n"]])
        try server.register(tool, task: .required) { _, context in
            try await context.becomeTask()
            return .structured(["m": 1])
        }
        try await withClient(.inMemory(), server) { client in
            let id = try Self.id(await client.taskCall("wrong"))
            #expect(await client.task(id, until: "failed")?["error"]?["code"]?.int == -32603)
        }
    }

    // MARK: Limits

    // SEC-10
    @Test(arguments: Setting.modern) func fullStore(_ setting: Setting) async throws {
        var options = TaskOptions()
        options.maxTasks = 2
        let tasks = try TaskServer(options)
        try await withClient(setting, tasks.server) { client in
            for _ in 0 ..< 2 { _ = try Self.id(await client.taskCall("slow_compute")) }
            for _ in 0 ..< 3 {
                let refused = await client.taskCall("slow_compute")
                #expect(refused.errorCode == MCPError.overloadedCode)
                #expect(refused.status == setting.status(503))
            }
            // Who needs no task is served.
            #expect(await client.taskCall("slow_compute", ["seconds": 0, "label": "x"]).text == "x at once")
            tasks.release.open()
        }
        #expect(tasks.server.probe.tasks == 2)
        #expect(await Self.handlersEnd(tasks.server))
    }

    // MRTR-11: a task that is refused uses up no answers; one that begins does.
    @Test(arguments: Setting.modern) func answersOfARefusedTask(_ setting: Setting) async throws {
        var options = TaskOptions()
        options.maxTasks = 1
        let tasks = try TaskServer(options)
        try await withClient(setting, tasks.server) { client in
            let running = try Self.id(await client.taskCall("slow_compute"))
            let asked = await client.taskCall("test_tool_with_task")
            #expect(asked.result?["resultType"]?.string == "input_required")
            let params: JSONObject = [
                "name": "test_tool_with_task", "arguments": [:],
                "requestState": try #require(asked.result?["requestState"]?.value),
                "inputResponses": ["user_name": ["action": "accept", "content": ["name": "Ada"]]],
            ]
            for _ in 0 ..< 2 {
                let refused = await client.taskRequest("tools/call", params)
                #expect(refused.errorCode == MCPError.overloadedCode)
            }
            tasks.release.open()
            #expect(await client.task(running, until: "completed") != nil)
            #expect(await Self.handlersEnd(tasks.server))
            let id = try Self.id(await client.taskRequest("tools/call", params))
            let done = await client.task(id, until: "completed")
            #expect(done?["result"]?["content"]?[0]?["text"]?.string == "Hello, Ada!")
            #expect(await client.taskRequest("tools/call", params).errorCode == -32602)
        }
        #expect(await Self.handlersEnd(tasks.server))
    }

    private static func modernClient(_ port: UInt16) -> RawClient {
        let recorder = MessageRecorder([.server], version: "2026-07-28")
        return RawClient(Setting(leg: .http, version: "2026-07-28"), HTTPLink(port: port, recorder), recorder)
    }

    /// What works when the server stops fails; its handler is cancelled.
    @Test func stop() async throws {
        let tasks = try TaskServer()
        let running = try tasks.server.start([.http(.tcp(port: 0))])
        let port = try running.port()
        let client = Self.modernClient(port)
        let id = try Self.id(await client.taskCall("slow_compute"))
        await client.close()
        await running.stop()
        #expect(await tasks.cancelled.wait())
        let task = try #require(tasks.server.probe.task(id))
        #expect(task["status"] == "failed")
        #expect(task["error"]?["code"]?.intValue == MCPError.interruptedCode)
        #expect(await Self.handlersEnd(tasks.server))
    }

    // TASK-19, SUB-09: those that watch a task hear that it failed before their subscription ends.
    @Test func stopWhileWatched() async throws {
        let tasks = try TaskServer()
        let running = try tasks.server.start([.http(.tcp(port: 0))])
        let port = try running.port()
        let client = Self.modernClient(port)
        let id = try Self.id(await client.taskCall("slow_compute"))
        async let listening = client.taskRequest(
            "subscriptions/listen", ["notifications": ["taskIds": [.string(id)]]], id: "sub")
        #expect(await client.heard("notifications/subscriptions/acknowledged") != nil)
        await running.stop()
        #expect(await listening.result?["resultType"]?.string == "complete")
        let heard = client.heard.filter { $0["params"]?["taskId"]?.string == id }
        #expect(heard.last?["params"]?["status"]?.string == "failed")
        await client.close()
    }

    // TASK-07: a client that is gone learns of no task, so there is none.
    @Test func theClientIsGone() async throws {
        let server = MCPServer("tasks", version: "1", options: Self.options())
        let (began, goOn) = (Gate(), Gate())
        let outcome = Mutex<String?>(nil)
        try server.register(Tool("late"), task: .required) { _, context in
            began.open()
            await goOn.wait()
            do {
                try await context.becomeTask()
                outcome.withLock { $0 = "a task" }
            } catch {
                outcome.withLock { $0 = "\(error)" }
            }
            return .text("")
        }
        try await withClient(.inMemory(), server) { client in
            async let reply = client.taskRequest("tools/call", ["name": "late"], id: "gone")
            #expect(await began.wait())
            try await client.cancel("gone")
            #expect(await reply.answer == nil)
            goOn.open()
            for _ in 0 ..< 10_000 where outcome.withLock({ $0 }) == nil { await pause() }
            #expect(outcome.withLock { $0 } == "CancellationError()")
            #expect(await Self.handlersEnd(server))
            #expect(server.probe.tasks == 0)
        }
    }

    // TASK-11, TASK-16, CANC-06: cancellation, answers and the handler's end at the same time, over the wire.
    @Test(arguments: 0 ..< 12) func races(_ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let tasks = try TaskServer()
        try await withClient(.inMemory(), tasks.server) { client in
            for _ in 0 ..< 6 {
                let id = try Self.id(await client.taskCall("confirm_delete", ["filename": "f"]))
                let (first, second) = (
                    Int.random(in: 0 ..< 40, using: &random), Int.random(in: 0 ..< 40, using: &random)
                )
                async let cancelled = {
                    for _ in 0 ..< first { await pause() }
                    return await client.taskRequest("tasks/cancel", ["taskId": .string(id)])
                }()
                async let updated = {
                    for _ in 0 ..< second { await pause() }
                    return await client.taskRequest(
                        "tasks/update",
                        [
                            "taskId": .string(id),
                            "inputResponses": [
                                "confirm": ["action": "accept", "content": ["confirm": true]]
                            ],
                        ])
                }()
                #expect(await cancelled.result?["resultType"]?.string == "complete")
                #expect(await updated.result?["resultType"]?.string == "complete")
                let status = await client.task(id)?["status"]?.string
                #expect(status == "cancelled" || status == "completed")
                #expect(await Self.handlersEnd(tasks.server))
                #expect(await client.task(id)?["status"]?.string == status)
            }
            #expect(tasks.server.probe.requests == 0)
        }
        tasks.server.probe.failTasks("over")
        #expect(tasks.returned.value == 6)
    }
}
