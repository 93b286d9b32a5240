import MCPCore
import Synchronization
import TestSupport
import Testing

/// Our client against our server, over every leg, in every revision: questions, tasks, subscriptions, kept
/// answers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClientInteractionTests {
    private static func options(_ change: (inout ClientOptions) -> Void = { _ in }) -> ClientOptions {
        var options = ClientOptions()
        options.timeout = .seconds(20)
        options.onElicit = { request in
            if request.url != nil { return .accept }
            let name = request.schema?.properties.keys.first ?? ""
            return .accept([name: .string("Ada")])
        }
        options.supportsElicitationURL = true
        options.onSample = { _ in CreateMessageResult(content: [.text("Paris")], model: "m") }
        options.onRoots = { [Root("file:///a"), Root("file:///b", name: "b")] }
        change(&options)
        return options
    }

    private static func withOwnClient(
        _ setting: Setting, _ server: MCPServer, _ options: ClientOptions = options(),
        _ body: (MCPClient) async throws -> Void
    ) async throws {
        try await withServer(setting, server) { served in
            let client = try await served.connect(options)
            do {
                try await body(client)
            } catch {
                await client.close()
                throw error
            }
            await client.close()
        }
    }

    private static func hasElicitation(_ setting: Setting) -> Bool { setting.version >= "2025-06-18" }

    // MARK: Questions

    // DUAL-23, MRTR-14, TOOL-25, PROM-07, RES-09, ELIC-11, SAMP-07, ROOT-02: the same handlers in each
    // revision.
    @Test(arguments: Setting.all) func questions(_ setting: Setting) async throws {
        let asking = try AskingServer()
        try await Self.withOwnClient(setting, asking.server) { (client) async throws in
            #expect(try await client.callTool("capital").text == "Paris")
            #expect(try await client.callTool("where").text == "file:///a,file:///b")
            guard Self.hasElicitation(setting) else {
                #expect(try await client.callTool("greet").isError)
                return
            }
            #expect(try await client.callTool("greet").text == "Hello, Ada!")
            #expect(try await client.callTool("steps").text == "Ada likes Ada")
            #expect(
                try await client.callTool("all").text == #"Paris Ada ["file:///a", "file:///b"]"#)
            #expect(try await client.getPrompt("ask").messages.first?.content.text == "Ada")
            #expect(try await client.readResource("mem://asked").first?.text == "Ada")
            if setting.version >= "2025-11-25" {
                #expect(try await client.callTool("page").text == "accept")
            }
        }
    }

    // ELIC-10, ELIC-11
    @Test(arguments: Setting.all.filter(hasElicitation)) func declining(_ setting: Setting) async throws {
        let asking = try AskingServer()
        for answer in [ElicitResult.decline, .cancel] {
            let options = Self.options { $0.onElicit = { _ in answer } }
            try await Self.withOwnClient(setting, asking.server, options) { (client) async throws in
                #expect(try await client.callTool("greet").text == "You said \(answer.action.rawValue)")
            }
        }
    }

    // CAP-02, MRTR-06, ERR-14, CAP-01: without handlers nothing is declared, so nothing is asked.
    @Test(arguments: Setting.all) func noHandlers(_ setting: Setting) async throws {
        let asking = try AskingServer()
        try await Self.withOwnClient(setting, asking.server, ClientOptions()) { (client) async throws in
            for tool in ["greet", "capital", "where"] {
                if setting.isModern {
                    let error = await #expect(throws: MCPError.self) { try await client.callTool(tool) }
                    #expect(error?.code == -32021)
                    #expect(error?.data?["requiredCapabilities"] != nil)
                } else {
                    #expect(try await client.callTool(tool).isError)
                }
            }
        }
    }

    // MRTR-18, SAMP-15, AMB-16: in the handshake revisions the server hears why; in 2026-07-28 the call
    // ends here.
    @Test(arguments: Setting.all) func aHandlerThatThrows(_ setting: Setting) async throws {
        let asking = try AskingServer()
        let options = Self.options { $0.onRoots = { throw MCPError(code: 4711, message: "none of it") } }
        try await Self.withOwnClient(setting, asking.server, options) { (client) async throws in
            if setting.isModern {
                let error = await clientError { _ = try await client.callTool("code") }
                #expect(error?.kind == .inputRequired)
                #expect(error?.message.contains("none of it") == true)
            } else {
                #expect(try await client.callTool("code").text == "4711 none of it")
            }
            #expect(try await client.callTool("capital").text == "Paris")
        }
    }

    // JRPC-18, MRTR-15
    @Test(arguments: Setting.all) func questionsAtTheSameTime(_ setting: Setting) async throws {
        let asking = try AskingServer()
        try await Self.withOwnClient(setting, asking.server) { (client) async throws in
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0 ..< 24 {
                    group.addTask { try await client.callTool(number % 2 == 0 ? "capital" : "where").text }
                }
                var texts: [String: Int] = [:]
                for try await text in group { texts[text, default: 0] += 1 }
                #expect(texts == ["Paris": 12, "file:///a,file:///b": 12])
            }
        }
    }

    // CANC-11: the call is cancelled while its question is open; the handler here hears of it.
    @Test(arguments: Setting.all) func cancelledWhileAsking(_ setting: Setting) async throws {
        let asking = try AskingServer()
        let (begun, cancelled) = (Gate(), Gate())
        let options = Self.options {
            $0.onRoots = {
                begun.open()
                // Only a cancellation ends this before the test does.
                if await !Gate().wait(), Task.isCancelled { cancelled.open() }
                throw CancellationError()
            }
        }
        try await Self.withOwnClient(setting, asking.server, options) { (client) async throws in
            let call = Task { try await client.callTool("waits") }
            await begun.wait()
            call.cancel()
            #expect(await clientError { _ = try await call.value }?.kind == .cancelled)
            await cancelled.wait()
            #expect(cancelled.isOpen)
            #expect(try await client.callTool("capital").text == "Paris")
        }
    }

    // MARK: Tasks

    private static func tasks(_ change: (inout ClientOptions) -> Void = { _ in }) -> ClientOptions {
        options { options in
            options.followsTasks = true
            options.onElicit = { _ in .accept(["confirm": true, "v": "x", "name": "Ada"]) }
            change(&options)
        }
    }

    // TASK-05, TASK-09, TASK-10, TASK-14, TASK-22
    @Test(arguments: Setting.modern) func followedToItsEnd(_ setting: Setting) async throws {
        var often = TaskOptions()
        often.pollInterval = .milliseconds(20)
        let tasks = try TaskServer(often)
        tasks.release.open()
        try await Self.withOwnClient(setting, tasks.server, Self.tasks()) { (client) async throws in
            let statuses = Mutex<[TaskStatus]>([])
            var options = CallOptions()
            options.onTask = { task in statuses.withLock { $0.append(task.status) } }
            let result = try await client.callTool("slow_compute", ["label": "sum"], options: options)
            #expect(result.text == "sum done")
            #expect(result.structuredContent == ["n": 1])
            #expect(statuses.withLock { $0.last } == .completed)
            #expect(try await client.callTool("failing_job").isError)
            await #expect(throws: MCPError(code: 4711, message: "no such account", data: ["account": 7])) {
                try await client.callTool("protocol_error_job")
            }
            #expect(
                try await client.callTool("confirm_delete", ["filename": "f"]).text == "f: accept true")
            #expect(try await client.callTool("multi_input").text == "x x")
            // A round of questions first, the task afterwards.
            #expect(try await client.callTool("test_tool_with_task").text == "Hello, Ada!")
            #expect(try await client.callTool("greet", ["name": "Bob"]).text == "Hello, Bob!")
        }
    }

    // TASK-17, TASK-18, TASK-12: whoever stops waiting stops the work.
    @Test(arguments: Setting.modern) func givenUp(_ setting: Setting) async throws {
        for isDeadline in [true, false] {
            let tasks = try TaskServer()
            try await Self.withOwnClient(setting, tasks.server, Self.tasks()) { (client) async throws in
                let begun = Gate()
                var options = CallOptions(deadline: isDeadline ? .milliseconds(400) : nil)
                options.onTask = { _ in begun.open() }
                let call = Task { [options] in
                    try await client.callTool("slow_compute", ["label": "sum"], options: options)
                }
                await begun.wait()
                if !isDeadline { call.cancel() }
                let error = await clientError { _ = try await call.value }
                #expect(error?.kind == (isDeadline ? .timeout : .cancelled))
                await tasks.cancelled.wait()
                #expect(tasks.cancelled.isOpen)
            }
        }
    }

    // MARK: Subscriptions

    /// Where a server can speak first: 2024-11-05 has no stream of the server at this endpoint.
    private static let toldOfChanges = Setting.all.filter { $0.leg != .http || $0.version != "2024-11-05" }

    // SUB-03, SUB-05, SUB-09, SUB-11, DUAL-24, TOOL-21, RES-11, RES-13, PROM-08: one API in each revision.
    @Test(arguments: toldOfChanges) func changes(_ setting: Setting) async throws {
        let test = try TestServer()
        try await Self.withOwnClient(setting, test.server) { (client) async throws in
            let subscription = try await client.listen(
                SubscriptionFilter(
                    toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true,
                    resourceURIs: ["mem://a"]))
            #expect(subscription.accepted.toolsListChanged)
            #expect(subscription.accepted.resourceURIs == ["mem://a"])
            var iterator = subscription.makeAsyncIterator()
            test.server.notifyResourceUpdated("mem://b")
            test.server.notifyResourceUpdated("mem://a")
            #expect(try await Self.next(&iterator) == .resourceUpdated("mem://a"))
            test.server.notifyToolsChanged()
            #expect(try await Self.next(&iterator) == .toolsListChanged)
            test.server.notifyPromptsChanged()
            #expect(try await Self.next(&iterator) == .promptsListChanged)
            test.server.notifyResourcesChanged()
            #expect(try await Self.next(&iterator) == .resourcesListChanged)
            // Calls go on beside it.
            #expect(try await client.callTool("add", ["a": 1, "b": 2]).text == "3")
            await subscription.cancel()
            #expect(try await iterator.next() == nil)
            #expect(try await client.callTool("add", ["a": 1, "b": 2]).text == "3")
        }
    }

    /// A subscription over legacy HTTP hears nothing before its stream is open; whoever opened it says so.
    private static func next(_ iterator: inout Subscription.AsyncIterator) async throws -> ServerChange? {
        while let change = try await iterator.next() { if change != .resubscribed { return change } }
        return nil
    }

    // SUB-09: the server stops.
    @Test(arguments: Setting.modern.filter { $0.leg == .http }) func theServerStops(_ setting: Setting)
        async throws
    {
        let test = try TestServer()
        let served = try ServedServer(setting, test.server)
        let client = try await served.connect()
        let subscription = try await client.listen(.lists)
        let reading = Task {
            for try await _ in subscription {}
            return true
        }
        await served.stop()
        #expect(try await reading.value)
        await client.close()
    }

    // MARK: Kept answers

    // CACHE-01, CACHE-05, CACHE-10, DUAL-21
    @Test(arguments: toldOfChanges) func keptAnswers(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.listTTL = .seconds(600)
        options.readTTL = .seconds(600)
        let server = MCPServer("s", version: "1", options: options)
        let reads = Counter()
        try server.register(Resource("mem://n", name: "n")) { _ in
            [.text("\(reads.increment())", uri: "mem://n")]
        }
        try server.register(Tool("one")) { _, _ in .text("") }
        try await Self.withOwnClient(setting, server) { (client) async throws in
            let subscription = try await client.listen(
                SubscriptionFilter(toolsListChanged: true, resourceURIs: ["mem://n"]))
            #expect(try await client.listTools().count == 1)
            for _ in 0 ..< 2 { _ = try await client.readResource("mem://n") }
            #expect(reads.value == (setting.isModern ? 1 : 2))
            var iterator = subscription.makeAsyncIterator()
            server.notifyResourceUpdated("mem://n")
            #expect(try await Self.next(&iterator) == .resourceUpdated("mem://n"))
            _ = try await client.readResource("mem://n")
            #expect(reads.value == (setting.isModern ? 2 : 3))
            try server.register(Tool("two")) { _, _ in .text("") }
            #expect(try await Self.next(&iterator) == .toolsListChanged)
            #expect(try await client.listTools().count == 2)
            await subscription.cancel()
        }
    }
}
