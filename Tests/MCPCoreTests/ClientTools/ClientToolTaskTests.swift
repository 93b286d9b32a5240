import MCPCore
import Synchronization
import TestSupport
import Testing

/// A call of a client's tool that takes long, as an agent with the tasks extension sees it.
@Suite(.timeLimit(.minutes(5))) struct ClientToolTaskTests {
    typealias F = HubFixture
    typealias Waiting = ClientToolLifeTests.Waiting

    /// A tool that may take two minutes.
    private static func attach(_ waiting: Waiting, to fixture: F) async throws {
        let tool = Tool("t", inputSchema: ["type": "object"], meta: [VendorKey.timeout: 120_000])
        let provider = HubFixture.emptyProvider()
        try provider.register(tool) { _, _ in
            waiting.begun.open()
            if await !waiting.release.wait() { waiting.cancelled.open() }
            return .text("released")
        }
        try await fixture.attach(provider, "one")
    }

    /// Calls the tool, and is answered with a task after 30 s and not before.
    private static func task(of client: RawClient, _ fixture: F, _ waiting: Waiting) async throws -> String {
        let answered = Counter()
        async let reply = {
            let reply = await client.taskCall("t")
            answered.increment()
            return reply
        }()
        #expect(await waiting.begun.wait())
        await fixture.advance(.milliseconds(29_999))
        #expect(answered.value == 0)
        await fixture.advance(.milliseconds(1))
        let result = await reply.result
        #expect(result?["resultType"]?.string == "task")
        return try #require(result?["taskId"]?.string)
    }

    // C27, TASK-05
    @Test(arguments: Setting.modern) func aLongCallBecomesATask(_ setting: Setting) async throws {
        let (fixture, waiting) = (F(tasks: TaskOptions()), Waiting())
        try await Self.attach(waiting, to: fixture)
        try await withClient(setting, try fixture.hub.server(for: "a")) { client in
            let id = try await Self.task(of: client, fixture, waiting)
            let working = await client.task(id)
            #expect(working?["status"]?.string == "working")
            #expect(working?["statusMessage"]?.string == "waiting for client")
            await fixture.advance(.seconds(60))
            #expect(await client.task(id)?["status"]?.string == "working")
            waiting.release.open()
            let done = await client.task(id, until: "completed")
            #expect(done?["result"]?["content"]?.elements?.first?["text"]?.string == "released")
        }
        await fixture.until("nothing is left") { $0.callsInFlight == 0 }
    }

    // C27, TASK-05
    @Test(arguments: Setting.modern) func aTaskIsCancelledAtTheClient(_ setting: Setting) async throws {
        let (fixture, waiting) = (F(tasks: TaskOptions()), Waiting())
        try await Self.attach(waiting, to: fixture)
        try await withClient(setting, try fixture.hub.server(for: "a")) { client in
            let id = try await Self.task(of: client, fixture, waiting)
            #expect(await client.taskRequest("tasks/cancel", ["taskId": .string(id)]).errorCode == nil)
            #expect(await waiting.cancelled.wait())
            #expect(await client.task(id, until: "cancelled") != nil)
        }
        await fixture.until("nothing is left") { $0.callsInFlight == 0 }
        #expect(await fixture.hub.counts.cancelled == 1)
    }

    // C27
    @Test func aTaskThatTakesTooLongEndsWithAnError() async throws {
        let (fixture, waiting) = (F(tasks: TaskOptions()), Waiting())
        try await Self.attach(waiting, to: fixture)
        try await withClient(.inMemory(), try fixture.hub.server(for: "a")) { client in
            let id = try await Self.task(of: client, fixture, waiting)
            await fixture.advance(.seconds(90))
            let done = await client.task(id, until: "completed")
            #expect(done?["result"]?["isError"]?.bool == true)
            let text = done?["result"]?["content"]?.elements?.first?["text"]?.string
            #expect(text == "t: client did not answer within 120 s")
            #expect(await waiting.cancelled.wait())
        }
    }

    // C27, TASK-25
    @Test func agentsWithoutTasksWait() async throws {
        let (fixture, waiting) = (F(tasks: TaskOptions()), Waiting())
        try await Self.attach(waiting, to: fixture)
        try await withClient(.inMemory(), try fixture.hub.server(for: "a")) { client in
            async let reply = client.call("t")
            #expect(await waiting.begun.wait())
            await fixture.advance(.seconds(60))
            #expect(await fixture.hub.counts.callsInFlight == 1)
            waiting.release.open()
            #expect(await reply.text == "released")
        }
    }

    // C27: a call for which there is no room as a task goes on as the request that it is.
    @Test func callsWithoutRoomForATaskWait() async throws {
        var options = TaskOptions()
        options.maxTasks = 1
        let (fixture, waiting) = (F(tasks: options), Waiting())
        try await Self.attach(waiting, to: fixture)
        try await withClient(.inMemory(), try fixture.hub.server(for: "a")) { client in
            let id = try await Self.task(of: client, fixture, waiting)
            async let reply = client.taskCall("t")
            await fixture.until("the second call is under way") { $0.callsInFlight == 2 }
            await fixture.advance(.seconds(30))
            #expect(await fixture.hub.counts.callsInFlight == 2)
            waiting.release.open()
            #expect(await reply.text == "released")
            #expect(await client.task(id, until: "completed") != nil)
        }
    }
}
