import MCPApps
import MCPCore
import MCPHarness
import Testing

/// The end of a view, and what the host asks it.
@Suite struct TeardownTests {
    // A39
    @Test func theViewTakesItsLeave() throws {
        var bench = ViewBench.ready()
        let told = bench.machine.teardown(reason: "closed")
        let request = try #require(told.sent.first)
        #expect(request["method"] == "ui/resource-teardown")
        #expect(request["params"] == ["reason": "closed"])
        #expect(told.last == .setTimer(id: 1, after: .seconds(5)))
        #expect(bench.machine.state == .tearingDown)
        #expect(bench.machine.teardown(reason: nil) == [])
        // It may save what it has.
        let saving = try #require(ViewBench.performed(bench.request("tools/call", ["name": "save"])))
        #expect(bench.machine.answer(saving.id, .success([:])).methods == ["result"])
        #expect(bench.hear(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": [:]]) == [.close])
        #expect(bench.machine.state == .closed)
        #expect(bench.request("ping") == [])
        #expect(bench.load() == [])
        #expect(bench.machine.teardown(reason: nil) == [])
        #expect(bench.machine.timerFired(1) == [])
    }

    // A39
    @Test func anErrorIsAnAnswerToo() throws {
        var bench = ViewBench.ready()
        let id = try #require(bench.machine.teardown(reason: nil).sent.first?["id"])
        let answer: JSONValue = ["jsonrpc": "2.0", "id": id, "error": ["code": -32601, "message": "no"]]
        #expect(bench.hear(answer).last == .close)
    }

    // A39
    @Test func aDeadView() throws {
        var bench = ViewBench.ready()
        let open = try #require(ViewBench.performed(bench.request("tools/call", ["name": "x"])))
        let asked = bench.machine.request(.ping)
        _ = bench.machine.teardown(reason: nil)
        let effects = bench.machine.timerFired(1)
        #expect(effects.first == .cancel(open.id))
        #expect(effects.last == .close)
        #expect(effects.count == 3)
        guard case .answered(asked.id, .failure(let error)) = effects[1] else {
            Issue.record("no answer")
            return
        }
        #expect(error.code == -32000)
        #expect(bench.machine.answer(open.id, .success([:])) == [])
    }

    // A39
    @Test func aViewThatNeverWasReady() {
        var created = ViewBench()
        #expect(created.machine.teardown(reason: nil) == [.close])
        var loading = ViewBench()
        loading.load()
        #expect(loading.machine.teardown(reason: nil) == [.close])
        var initializing = ViewBench()
        initializing.initialize()
        let asked = initializing.machine.request(.ping)
        let effects = initializing.machine.teardown(reason: nil)
        #expect(effects.count == 2)
        guard case .answered(asked.id, .failure) = effects[0] else {
            Issue.record("no answer")
            return
        }
    }

    @Test func aPageThatIsLoadedAgainWhileItEnds() {
        var bench = ViewBench.ready()
        _ = bench.machine.teardown(reason: nil)
        #expect(bench.load() == [.close])
    }

    @Test func aFrameThatIsGone() {
        var bench = ViewBench.ready()
        #expect(bench.machine.abandon() == [.close])
        #expect(bench.machine.abandon() == [])
    }

    // MARK: Requests of the host

    // A42
    @Test func toolsOfTheView() throws {
        var bench = ViewBench.ready(app: ["tools": [:]])
        let list = bench.machine.request(.listTools(cursor: "c"))
        #expect(list.effects.sent.first?["method"] == "tools/list")
        #expect(list.effects.sent.first?["params"] == ["cursor": "c"])
        let call = bench.machine.request(.callTool(name: "pick", arguments: ["n": [.null]]))
        #expect(call.effects.sent.first?["params"] == ["name": "pick", "arguments": ["n": [.null]]])
        let callID = try #require(call.effects.sent.first?["id"])
        let listID = try #require(list.effects.sent.first?["id"])
        #expect(
            bench.hear(["jsonrpc": "2.0", "id": callID, "result": ["content": []]])
                == [.answered(call.id, .success(["content": []]))])
        // Twice.
        #expect(
            bench.hear(["jsonrpc": "2.0", "id": callID, "result": [:]]).reasons == [
                "a response without a matching request"
            ])
        let error: JSONValue = [
            "code": -32602, "message": .string(String(repeating: "e", count: 9_000)), "data": 1,
        ]
        let failed = bench.hear(["jsonrpc": "2.0", "id": listID, "error": error])
        guard case .answered(list.id, .failure(let mcp))? = failed.first else {
            Issue.record("no answer")
            return
        }
        #expect(mcp.code == -32602)
        #expect(mcp.message.count == 2_000)
        #expect(mcp.data == 1)
    }

    @Test func aRequestThatTheHostGivesUp() throws {
        var bench = ViewBench.ready()
        let asked = bench.machine.request(.ping)
        let id = try #require(asked.effects.sent.first?["id"])
        let effects = bench.machine.giveUp(asked.id)
        #expect(effects.methods == ["notifications/cancelled"])
        #expect(effects.sent.first?["params"] == ["requestId": id])
        #expect(bench.machine.giveUp(asked.id) == [])
        #expect(
            bench.hear(["jsonrpc": "2.0", "id": id, "result": [:]]).reasons == [
                "a response without a matching request"
            ])
    }

    @Test func aRequestThatIsGivenUpBeforeItWasSent() {
        var bench = ViewBench()
        bench.load()
        let asked = bench.machine.request(.ping)
        #expect(asked.effects == [])
        #expect(bench.machine.giveUp(asked.id) == [])
        bench.initialize()
        #expect(bench.notify("ui/notifications/initialized").sent.isEmpty)
    }

    @Test func aClosedViewIsNotAsked() {
        var bench = ViewBench()
        _ = bench.machine.teardown(reason: nil)
        let asked = bench.machine.request(.ping)
        guard case .answered(asked.id, .failure(let error))? = asked.effects.first else {
            Issue.record("no answer")
            return
        }
        #expect(error.code == -32000)
    }
}
