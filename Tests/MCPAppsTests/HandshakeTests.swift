import MCPApps
import MCPCore
import MCPHarness
import Testing

/// From the first word of the sandbox to the view at work.
@Suite struct HandshakeTests {
    // A06, A16
    @Test func theDocumentGoesToTheSandbox() {
        var bench = ViewBench()
        #expect(bench.machine.state == .created)
        let effects = bench.load()
        #expect(bench.machine.state == .loading)
        #expect(effects.events == [.proxyReady])
        #expect(
            effects.sent == [
                [
                    "jsonrpc": "2.0", "method": "ui/notifications/sandbox-resource-ready",
                    "params": [
                        "html": "<!doctype html><p>view</p>",
                        "sandbox": "allow-scripts allow-same-origin allow-forms",
                        "permissions": ["camera": [:]], "csp": [:],
                    ],
                ]
            ])
        #expect(effects.last == .setTimer(id: 0, after: .seconds(10)))
    }

    // A10
    @Test func nothingButTheAnswerBeforeInitialized() throws {
        var bench = ViewBench()
        var sent = bench.load().sent.dropFirst()
        sent += bench.machine.toolInputPartial(["a": 1]).sent
        sent += bench.machine.toolInput(["a": 1]).sent
        sent += bench.machine.toolResult(.text("done")).sent
        var context = ViewBench.context
        context.theme = "dark"
        sent += bench.machine.contextChanged(context).sent
        sent += bench.machine.serverListChanged(.tools).sent
        let asked = bench.machine.request(.ping)
        sent += asked.effects.sent
        #expect(sent.isEmpty)
        let answer = bench.initialize()
        #expect(answer.methods == ["result"])
        context.locale = "de"
        sent += bench.machine.contextChanged(context).sent
        #expect(sent.isEmpty)
        #expect(bench.machine.state == .initializing)

        let after = bench.notify("ui/notifications/initialized")
        #expect(after.first == .notify(.initialized))
        #expect(
            after.methods == [
                "ui/notifications/host-context-changed", "ui/notifications/tool-input",
                "ui/notifications/tool-result", "ping",
            ])
        // The answer to ui/initialize had the theme already.
        #expect(after.sent[0]["params"] == ["locale": "de"])
        #expect(bench.machine.state == .ready)
    }

    // A06, A36
    @Test func theAnswerToInitialize() throws {
        var context = ViewBench.context
        context.toolInfo = HostContext.ToolInfo(id: "c1", tool: Tool("show", inputSchema: ["type": "object"]))
        (context.locale, context.timeZone, context.platform) = ("de-CH", "Europe/Zurich", "web")
        var bench = ViewBench(context: context, sandbox: nil)
        bench.load()
        let answer = try #require(
            bench.initialize(["availableDisplayModes": ["pip", "inline", "x"]]).sent.first)
        #expect(answer["id"] == 1)
        let result = try #require(answer["result"]?.objectValue)
        #expect(Array(result.keys) == ["protocolVersion", "hostInfo", "hostCapabilities", "hostContext"])
        #expect(result["protocolVersion"] == "2026-01-26")
        #expect(result["hostInfo"] == ["name": "bench", "version": "1"])
        let told = try #require(result["hostContext"])
        #expect(
            told["toolInfo"] == ["id": "c1", "tool": ["name": "show", "inputSchema": ["type": "object"]]])
        #expect(told["containerDimensions"] == ["width": 600, "maxHeight": 400])
        #expect([told["locale"], told["timeZone"], told["platform"]] == ["de-CH", "Europe/Zurich", "web"])
        #expect(bench.machine.appInfo?.name == "view")
        #expect(bench.machine.appCapabilities?.availableDisplayModes == [.inline, .pip])
    }

    @Test func anUnknownVersionGetsOurs() throws {
        var bench = ViewBench()
        let params: JSONValue = ["protocolVersion": "2099-01-01", "appInfo": ["name": "v", "version": "1"]]
        let effects = bench.request("ui/initialize", params)
        #expect(effects.sent.first?["result"]?["protocolVersion"] == "2026-01-26")
    }

    @Test(
        arguments: [
            [:], ["protocolVersion": 1, "appInfo": ["name": "v"]], ["protocolVersion": "x"], [],
            ["protocolVersion": "x", "appInfo": "v"],
            ["protocolVersion": "x", "appInfo": ["name": "v"], "appCapabilities": []],
        ] as [JSONValue])
    func malformedInitialize(params: JSONValue) {
        var bench = ViewBench()
        bench.load()
        #expect(bench.request("ui/initialize", params).errorCode == -32602)
        #expect(bench.machine.state == .loading)
        #expect(bench.machine.appCapabilities == nil)
    }

    /// A page that mounts twice.
    @Test func aSecondInitialize() {
        var bench = ViewBench.ready(app: ["tools": [:]])
        #expect(bench.machine.toolInput([:]).methods == ["ui/notifications/tool-input"])
        #expect(bench.machine.appCapabilities?.tools != nil)
        #expect(bench.initialize().methods == ["result"])
        #expect(bench.machine.appCapabilities?.tools == nil)
        #expect(bench.machine.state == .ready)
        #expect(bench.notify("ui/notifications/initialized") == [])
    }

    @Test func requestsBeforeInitialize() {
        var bench = ViewBench()
        bench.load()
        #expect(bench.request("tools/call", ["name": "x"]).errorCode == -32600)
        #expect(bench.notify("ui/notifications/size-changed", ["height": 5]).reasons.count == 1)
        #expect(bench.notify("ui/notifications/initialized").reasons.count == 1)
        #expect(bench.machine.state == .loading)
        #expect(bench.request("ping").sent.first?["result"] == [:])
    }

    /// For a host that loads the frame by itself, such as one with a web view.
    @Test func withoutASandboxPage() {
        var bench = ViewBench(resource: nil)
        #expect(bench.load() == [.notify(.proxyReady)])
        #expect(bench.machine.state == .proxyReady)
        var direct = ViewBench(resource: nil)
        #expect(direct.initialize().methods == ["result"])
        #expect(direct.machine.state == .initializing)
    }

    // A28
    @Test func aPageThatIsLoadedAgain() throws {
        var bench = ViewBench.ready(app: ["tools": [:]])
        _ = bench.machine.toolInput(["a": 1])
        _ = bench.machine.toolResult(.text("done"))
        let open = try #require(ViewBench.performed(bench.request("tools/call", ["name": "x"])))
        let asked = bench.machine.request(.ping)
        let again = bench.load()
        #expect(bench.machine.state == .loading)
        #expect(bench.machine.appInfo == nil)
        #expect(again.contains(.cancel(open.id)))
        #expect(
            again.contains {
                if case .answered(asked.id, .failure(let error)) = $0 { error.code == -32000 } else { false }
            })
        #expect(again.methods == ["ui/notifications/sandbox-resource-ready"])
        #expect(bench.machine.answer(open.id, .success([:])) == [])
        bench.initialize()
        #expect(
            bench.notify("ui/notifications/initialized").methods == [
                "ui/notifications/tool-input", "ui/notifications/tool-result",
            ])
        // The new page has the ids of the old one.
        #expect(ViewBench.performed(bench.request("tools/call", ["name": "x"], id: 2)) != nil)
    }

    @Test func aPageThatIsLoadedAllTheTime() {
        var bench = ViewBench()
        for _ in 1 ... 20 { #expect(bench.load().methods.count == 1) }
        let effects = bench.load()
        #expect(effects.sent.isEmpty)
        #expect(effects.reasons == ["loaded more than 20 times in a minute"])
        bench.now += .seconds(61)
        #expect(bench.load().methods.count == 1)
    }

    // A24
    @Test func aSilentView() {
        var bench = ViewBench()
        #expect(bench.machine.timerFired(0) == [])
        bench.load()
        #expect(bench.machine.timerFired(0) == [.notify(.silent)])
        bench.initialize()
        #expect(bench.machine.timerFired(0) == [])
    }
}
