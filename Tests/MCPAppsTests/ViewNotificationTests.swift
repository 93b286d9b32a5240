import MCPApps
import MCPCore
import MCPHarness
import Testing

/// What views tell, and what hostile ones try.
@Suite struct ViewNotificationTests {
    // A14
    @Test(
        arguments: [
            (["width": 10, "height": 150], nil, 150), (["height": 80.5], nil, 80.5),
            (["height": 5000], nil, 400),
            (["height": 0], nil, 0),
        ] as [(JSONValue, Double?, Double?)])
    func sizes(params: JSONValue, width: Double?, height: Double?) {
        var bench = ViewBench.ready()
        let effects = bench.notify("ui/notifications/size-changed", params)
        #expect(effects == [.notify(.size(width: width, height: height))])
    }

    // A14
    @Test(
        arguments: [
            [:], ["height": -1], ["height": "80"], ["height": .null], ["width": 50], [], "x",
            ["height": JSONNumber(text: "1e400").map(JSONValue.number) ?? .null],
        ] as [JSONValue])
    func noSizes(params: JSONValue) {
        var bench = ViewBench.ready()
        #expect(bench.notify("ui/notifications/size-changed", params) == [])
    }

    // A14
    @Test func roomWithoutBounds() {
        var context = ViewBench.context
        context.containerDimensions = nil
        var bench = ViewBench.ready(context: context)
        #expect(
            bench.notify("ui/notifications/size-changed", ["width": 1e9, "height": 3])
                == [.notify(.size(width: 100_000, height: 3))])
    }

    // A13
    @Test func logMessages() {
        var bench = ViewBench.ready()
        #expect(
            bench.notify("notifications/message", ["level": "warning", "logger": "l", "data": ["a": 1]])
                == [.notify(.log(level: .warning, logger: "l", data: ["a": 1]))])
        for params in [[:], ["level": "loud", "data": 1], []] as [JSONValue] {
            #expect(bench.notify("notifications/message", params).reasons.count == 1)
        }
    }

    // A39
    @Test func theViewWantsToBeClosed() {
        var bench = ViewBench.ready()
        #expect(bench.notify("ui/notifications/request-teardown") == [.notify(.requestTeardown)])
    }

    @Test func whatTheSandboxSays() {
        var bench = ViewBench()
        let long = String(repeating: "x", count: 9_000)
        #expect(
            bench.notify(
                "ui/notifications/sandbox-csp-violation",
                ["directive": "connect-src", "blockedURI": .string(long)])
                == [.notify(.violation(directive: "connect-src", blockedURI: String(long.prefix(500))))])
        #expect(
            bench.notify("ui/notifications/sandbox-csp-violation", [])
                == [.notify(.violation(directive: "", blockedURI: ""))])
        #expect(bench.notify("ui/notifications/sandbox-navigated") == [.notify(.navigatedAway)])
    }

    // A42
    @Test func changesOfToolsAreSlowedDown() {
        var bench = ViewBench.ready(app: ["tools": ["listChanged": true]])
        let changed = "notifications/tools/list_changed"
        #expect(bench.notify(changed) == [.notify(.toolsChanged)])
        bench.now += .milliseconds(400)
        #expect(bench.notify(changed) == [.setTimer(id: 2, after: .milliseconds(600))])
        for _ in 1 ... 50 { #expect(bench.notify(changed) == []) }
        bench.now += .milliseconds(600)
        #expect(bench.machine.timerFired(2) == [.notify(.toolsChanged)])
        #expect(bench.machine.timerFired(2) == [])
        bench.now += .milliseconds(999)
        #expect(bench.notify(changed) == [.setTimer(id: 2, after: .milliseconds(1))])
        var without = ViewBench.ready()
        #expect(without.notify(changed).reasons == ["the view declared no tools"])
    }

    // MARK: Hostile views

    // A24
    @Test(
        arguments: [
            .null, 1, "x", [], [[:]], [:], ["jsonrpc": "1.0", "method": "ping", "id": 1] as JSONValue,
            ["jsonrpc": "2.0"], ["jsonrpc": "2.0", "method": 5], ["jsonrpc": "2.0", "method": 5, "id": 1],
            ["jsonrpc": "2.0", "method": "ping", "id": .null],
            ["jsonrpc": "2.0", "method": "ping", "id": [1]],
            ["jsonrpc": "2.0", "method": "ping", "id": 1.5], ["jsonrpc": "2.0", "id": 1],
            ["jsonrpc": "2.0", "id": 1, "result": [:], "error": [:]],
            ["jsonrpc": "2.0", "id": "x", "result": [:]],
            ["jsonrpc": "2.0", "id": 99, "result": [:]],
            ["jsonrpc": "2.0", "method": "ping", "id": .string(String(repeating: "i", count: 257))],
            ["jsonrpc": "2.0", "method": .string(String(repeating: "m", count: 257)), "id": 1],
        ] as [JSONValue])
    func malformedMessages(message: JSONValue) {
        var bench = ViewBench.ready()
        let effects = bench.hear(message)
        #expect(effects.reasons.count == 1)
        // Those that have an id and want an answer get one.
        let wantsAnswer = message["id"] == 1 && message["result"] == nil && (message["method"] != nil)
        #expect(effects.sent.map { $0["error"]?["code"] } == (wantsAnswer ? [-32600] : []))
        #expect(bench.machine.state == .ready)
    }

    @Test func unknownNotifications() {
        var bench = ViewBench.ready()
        #expect(bench.notify("ui/notifications/sandbox-unknown").reasons.count == 1)
        #expect(bench.notify("x").reasons.count == 1)
        #expect(bench.notify("notifications/progress", ["progress": 1]) == [])
    }

    // A24
    @Test func aFlood() {
        var bench = ViewBench.ready()
        bench.now += .seconds(2)
        for _ in 1 ... 200 { #expect(bench.request("ping").methods == ["result"]) }
        let next = bench.request("ping")
        #expect(next.errorCode == -32000)
        #expect(next.reasons == ["more than 200 messages per second"])
        let told = bench.notify("ui/notifications/request-teardown")
        #expect(told.events == [.dropped(reason: "more than 200 messages per second")])
        for _ in 1 ... 198 { #expect(bench.request("tools/call", ["name": "x"]).errorCode == -32000) }
        for _ in 1 ... 1_000 { #expect(bench.request("tools/call", ["name": "x"]) == []) }
        bench.now += .seconds(1)
        #expect(bench.request("ping").methods == ["result"])
    }
}
