import MCPApps
import MCPCore
import MCPHarness
import Testing

/// What views ask for.
@Suite struct ViewRequestTests {
    private func performed(
        _ method: String, _ params: JSONValue, _ bench: ViewBench = .ready()
    ) throws -> ViewRequest {
        var bench = bench
        return try #require(ViewBench.performed(bench.request(method, params))).request
    }

    // A04, A07
    @Test func callTool() throws {
        var bench = ViewBench.ready()
        let arguments: JSONObject = [
            "list": [1, 2.50, [.null]], "object": ["flag": true, "n": .null], "big": 9_007_199_254_740_993,
        ]
        let effects = bench.request(
            "tools/call", ["name": "x", "arguments": .object(arguments), "_meta": ["k": 1]], id: "a")
        let (request, id) = try #require(ViewBench.performed(effects))
        #expect(request == .callTool(name: "x", arguments: arguments, meta: ["k": 1]))
        guard case .callTool(_, let passed, _) = request else { return }
        #expect(JSONValue.object(passed).serialized() == JSONValue.object(arguments).serialized())
        let result: JSONValue = [
            "content": [], "structuredContent": ["x": .null], "_meta": ["y": 2], "isError": true,
        ]
        let answer = bench.machine.answer(id, .success(result))
        #expect(answer == [.send(["jsonrpc": "2.0", "id": "a", "result": result])])
        #expect(bench.machine.answer(id, .success(result)) == [])
    }

    @Test func errorsOfTheHost() throws {
        var bench = ViewBench.ready()
        let id = try #require(ViewBench.performed(bench.request("tools/call", ["name": "x"], id: 7))).id
        let error = MCPError(code: -32000, message: "no", data: ["why": 1])
        #expect(
            bench.machine.answer(id, .failure(error)) == [
                .send([
                    "jsonrpc": "2.0", "id": 7,
                    "error": ["code": -32000, "message": "no", "data": ["why": 1]],
                ])
            ])
    }

    // A08
    @Test(arguments: [
        "resources/read", "resources/list", "resources/templates/list", "prompts/list", "tools/list",
    ])
    func forwarded(method: String) throws {
        let params: JSONObject = ["uri": "x:///a", "cursor": "c", "_meta": ["k": [1]]]
        #expect(try performed(method, .object(params)) == .forward(method: method, params: params))
        var capabilities = HostCapabilities()
        capabilities.serverPrompts = false
        var bare = ViewBench.ready(capabilities: capabilities)
        #expect(bare.request(method, .object(params)).errorCode == -32601)
    }

    // A12
    @Test func links() throws {
        #expect(
            try performed("ui/open-link", ["url": "HTTPS://x.example/?q#f"])
                == .openLink(url: "HTTPS://x.example/?q#f"))
        var bench = ViewBench.ready()
        for url in [
            "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "https:x.example", "//x.example",
            "",
            "https://x.example/ y", "https://x.example/\u{0}",
            "https://" + String(repeating: "a", count: 9_000),
        ] {
            #expect(
                bench.request("ui/open-link", ["url": .string(url)]).errorCode == -32000, "\(url.prefix(40))")
        }
    }

    // A11
    @Test func messages() throws {
        let block: JSONValue = ["type": "text", "text": "hi"]
        let wanted = ViewRequest.message(content: [.text("hi")])
        #expect(try performed("ui/message", ["role": "user", "content": [block]]) == wanted)
        #expect(try performed("ui/message", ["role": "user", "content": block]) == wanted)
    }

    // A40
    @Test func modelContext() throws {
        #expect(
            try performed(
                "ui/update-model-context",
                ["content": [["type": "text", "text": "x"]], "structuredContent": ["a": .null]])
                == .updateModelContext(content: [.text("x")], structured: ["a": .null]))
        #expect(
            try performed("ui/update-model-context", [:]) == .updateModelContext(content: [], structured: nil)
        )
    }

    // A41
    @Test func downloads() throws {
        let file: JSONValue = ["type": "resource", "resource": ["uri": "f:///../x", "text": "t"]]
        guard case .download(let blocks) = try performed("ui/download-file", ["contents": [file]]) else {
            Issue.record("no download")
            return
        }
        #expect(blocks.map(\.resource?.uri) == ["f:///../x"])
    }

    @Test func sampling() throws {
        let params: JSONObject = ["messages": [], "maxTokens": 5]
        #expect(try performed("sampling/createMessage", .object(params)) == .sample(params: params))
        var bench = ViewBench.ready()
        #expect(bench.request("sampling/createMessage", ["tools": []]).errorCode == -32602)
        var capabilities = HostCapabilities()
        capabilities.sampling = true
        capabilities.samplingTools = true
        var able = ViewBench.ready(capabilities: capabilities)
        #expect(ViewBench.performed(able.request("sampling/createMessage", ["tools": []])) != nil)
        #expect(capabilities.json["sampling"] == ["tools": [:]])
        var bare = ViewBench.ready(capabilities: HostCapabilities())
        #expect(bare.request("sampling/createMessage", .object(params)).errorCode == -32601)
    }

    // A24
    @Test(
        arguments: [
            ("ui/open-link", [:]), ("ui/open-link", ["url": 1]), ("ui/open-link", []), ("ui/open-link", "x"),
            ("ui/message", ["role": "assistant", "content": [["type": "text", "text": "x"]]]),
            ("ui/message", ["content": [["type": "text", "text": "x"]]]), ("ui/message", ["role": "user"]),
            ("ui/message", ["role": "user", "content": []]),
            ("ui/message", ["role": "user", "content": ["x"]]),
            ("ui/message", ["role": "user", "content": [["type": "text"]]]),
            ("ui/update-model-context", ["content": "x"]),
            ("ui/update-model-context", ["structuredContent": []]),
            ("ui/request-display-mode", [:]), ("ui/request-display-mode", ["mode": .null]),
            ("ui/download-file", [:]), ("ui/download-file", ["contents": []]),
            ("ui/download-file", ["contents": [["type": "text", "text": "x"]]]), ("tools/call", [:]),
            ("tools/call", ["name": 5]), ("tools/call", ["name": "x", "arguments": []]),
            ("resources/read", [:]),
            ("sampling/createMessage", []),
        ] as [(String, JSONValue)])
    func malformedParams(method: String, params: JSONValue) {
        var bench = ViewBench.ready()
        let effects = bench.request(method, params)
        #expect(effects.errorCode == -32602)
        #expect(effects.count == 1)
    }

    @Test(arguments: ["x", "ui/unknown", "initialize", "tools/unknown", "ui/resource-teardown", ""])
    func unknownMethods(method: String) {
        var bench = ViewBench.ready()
        #expect(bench.request(method).errorCode == -32601)
    }

    // MARK: Display modes

    // A37
    @Test func aModeThatBothDeclare() throws {
        let bench = ViewBench.ready(app: ["availableDisplayModes": ["inline", "fullscreen", "pip"]])
        #expect(
            try performed("ui/request-display-mode", ["mode": "fullscreen"], bench)
                == .displayMode(.fullscreen))
        var machine = bench
        for mode in ["pip", "inline", "hologram"] {
            let effects = machine.request("ui/request-display-mode", ["mode": .string(mode)])
            #expect(effects.sent.first?["result"] == ["mode": "inline"], "\(mode)")
            #expect(effects.count == 1)
        }
    }

    // A37
    @Test func aModeThatTheViewDidNotDeclare() {
        var bench = ViewBench.ready()
        let effects = bench.request("ui/request-display-mode", ["mode": "fullscreen"])
        #expect(effects.sent.map { $0["result"] } == [["mode": "inline"]])
        #expect(effects.count == 1)
    }

    // MARK: Limits

    @Test func openRequestsAreBounded() {
        var bench = ViewBench.ready()
        for _ in 1 ... 64 { #expect(ViewBench.performed(bench.request("tools/call", ["name": "x"])) != nil) }
        #expect(bench.request("tools/call", ["name": "x"]).errorCode == -32000)
        bench.notify("notifications/cancelled", ["requestId": 2])
        #expect(ViewBench.performed(bench.request("tools/call", ["name": "x"])) != nil)
    }

    @Test func aRequestIsGivenUp() throws {
        var bench = ViewBench.ready()
        let open = try #require(ViewBench.performed(bench.request("tools/call", ["name": "x"], id: "a")))
        #expect(bench.notify("notifications/cancelled", ["requestId": "b"]) == [])
        #expect(bench.notify("notifications/cancelled", [:]) == [])
        #expect(bench.notify("notifications/cancelled", ["requestId": "a"]) == [.cancel(open.id)])
        #expect(bench.machine.answer(open.id, .success([:])) == [])
    }

    @Test func anIDThatIsInUse() throws {
        var bench = ViewBench.ready()
        let open = try #require(ViewBench.performed(bench.request("tools/call", ["name": "x"], id: 9)))
        let twice = bench.request("tools/call", ["name": "y"], id: 9)
        #expect(twice.reasons == ["the id of tools/call is already in use"])
        #expect(twice.sent.isEmpty)
        #expect(bench.machine.answer(open.id, .success([:])).methods == ["result"])
    }
}
