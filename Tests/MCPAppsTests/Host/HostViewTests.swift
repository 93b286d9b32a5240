import TestSupport
import Testing

@testable import MCPApps
@testable import MCPCore
@testable import MCPHarness

/// What views can do at a host, and what they cannot.
@Suite(.timeLimit(.minutes(5))) struct HostViewTests {
    private func open(
        _ fixture: HostFixture, _ server: HostedServer.ID, _ capabilities: JSONValue = [:]
    ) async throws -> PlayedView {
        let view = try await fixture.view(of: fixture.host.call(server, "chart"))
        try await view.begin(capabilities)
        return view
    }

    // A07 A38
    @Test func aViewCallsTheToolsOfItsServer() async throws {
        let ui = try UIServer()
        let fixture = await HostFixture()
        let server = try await fixture.add(ui.server, as: "one")
        let view = try await open(fixture, server)
        let answer = try await view.ask(
            7, "tools/call", ["name": "tick", "arguments": ["a": [1, ["b": nil]], "c": true]])
        #expect(answer["result"]?["structuredContent"] == ["a": [1, ["b": nil]], "c": true])
        #expect(answer["result"]?["content"]?[0]?["text"] == "tick")
        #expect(answer["result"]?["_meta"]?["of"] == "tick")
        #expect(ui.called.last == #"tick {"a":[1,{"b":null}],"c":true}"#)
        // A tool for the model alone, and one that is not there.
        let refused = try await view.ask(8, "tools/call", ["name": "think", "arguments": [:]])
        #expect(refused["error"]?["message"]?.stringValue == "think may not be called by views.")
        let unknown = try await view.ask(9, "tools/call", ["name": "nothing"])
        #expect(unknown["error"]?["code"] == -32602)
        #expect(!ui.called.contains { $0.hasPrefix("think") })
        #expect(try await view.ask(10, "tools/call", ["name": "fails"])["result"]?["isError"] == true)
        // The call of the view stands in the history, with who made it.
        #expect(
            await fixture.host.history().contains {
                $0.json["by"] == "view" && $0.json["view"] == "chart" && $0.tool == "tick"
            })
        let list = try await view.ask(11, "tools/list")["result"]?["tools"]?.arrayValue ?? []
        #expect(list.compactMap { $0["name"]?.stringValue } == ["chart", "slow", "plain", "fails", "tick"])
        await fixture.close()
    }

    // A09 A38
    @Test func viewsReachTheirOwnServerAlone() async throws {
        let fixture = await HostFixture()
        let one = try UIServer("one")
        let two = try UIServer("two")
        let first = try await fixture.add(one.server, as: "one")
        let second = try await fixture.add(two.server, as: "two")
        try two.server.register(Tool("only-two", inputSchema: ["type": "object"])) { _, _ in .text("two") }
        let views = [
            try await open(fixture, first), try await open(fixture, first), try await open(fixture, second),
        ]
        #expect(Set(views.map(\.id)).count == 3)
        for (number, view) in views.enumerated() {
            _ = try await view.ask(
                5, "tools/call", ["name": "tick", "arguments": ["mark": JSONValue(number)]])
        }
        #expect(one.called.filter { $0.hasPrefix("tick") } == [#"tick {"mark":0}"#, #"tick {"mark":1}"#])
        #expect(two.called.filter { $0.hasPrefix("tick") } == [#"tick {"mark":2}"#])
        for (number, view) in views.enumerated() {
            let marks = view.received.compactMap { $0["result"]?["structuredContent"]?["mark"]?.intValue }
            #expect(marks == [number])
        }
        #expect(try await views[0].ask(6, "tools/call", ["name": "only-two"])["error"]?["code"] == -32602)
        // One that is closed leaves the others alive.
        await fixture.host.closeView(views[1].id)
        _ = try await views[1].params(of: "ui/resource-teardown")
        #expect(try await views[0].ask(9, "tools/call", ["name": "tick"])["result"] != nil)
        #expect(try await views[2].ask(9, "tools/call", ["name": "tick"])["result"] != nil)
        await fixture.close()
    }

    // A08
    @Test func aViewReadsTheResourcesOfItsServer() async throws {
        let fixture = await HostFixture()
        let ui = try UIServer()
        let marked = ResourceContents(
            uri: "test:///marked", mimeType: "text/plain", text: "marked", meta: ["of": ["the": "server"]])
        try ui.server.register(Resource("test:///marked", name: "marked")) { _ in [marked] }
        try ui.server.register(Prompt("review", arguments: [PromptArgument("code", required: true)])) {
            _, _ in
            GetPromptResult([.user("x")])
        }
        let view = try await open(fixture, try await fixture.add(ui.server, as: "one"))
        let contents = try await view.ask(7, "resources/read", ["uri": "test:///marked"])["result"]?[
            "contents"]
        #expect(contents?[0]?["_meta"] == ["of": ["the": "server"]] && contents?[0]?["text"] == "marked")
        let prompts = try await view.ask(9, "prompts/list")["result"]?["prompts"]
        #expect(prompts?[0]?["name"] == "review" && prompts?[0]?["arguments"]?[0]?["required"] == true)
        let blob = try await view.ask(3, "resources/read", ["uri": "test:///data.bin"])
        #expect(blob["result"]?["contents"]?[0]?["blob"] == "AQID")
        let html = try await view.ask(4, "resources/read", ["uri": .string(UIServer.uri)])
        #expect(html["result"]?["contents"]?[0]?["text"]?.stringValue == UIServer.html)
        let list = try await view.ask(5, "resources/list")
        #expect(list["result"]?["resources"]?.arrayValue?.count == 3)
        #expect(try await view.ask(6, "resources/templates/list")["result"]?["resourceTemplates"] == [])
        #expect(try await view.ask(8, "resources/read", ["uri": "test:///none"])["error"] != nil)
        await fixture.close()
    }

    // A12
    @Test func linksAreOpenedWhenTheUserAgrees() async throws {
        let fixture = await HostFixture()
        let view = try await open(fixture, try await fixture.add(try UIServer().server, as: "one"))
        await view.send(3, "ui/open-link", ["url": "https://example.com/a"])
        let question = try await fixture.question()
        guard case .link("https://example.com/a") = question.subject else { throw NothingThere() }
        #expect(question.view == view.id)
        await fixture.host.answer(question.id, .allow())
        #expect(try await view.answer(to: 3)["result"] == [:])
        _ = try await fixture.first { event in
            if case .openLink("https://example.com/a") = event { true } else { nil }
        }
        await view.send(4, "ui/open-link", ["url": "https://example.com/b"])
        await fixture.host.answer(try await fixture.question(1).id, .deny)
        #expect(try await view.answer(to: 4)["error"]?["code"] == -32000)
        for (number, url) in ["javascript:alert(1)", "file:///etc/passwd", "https:x", "http://a b"]
            .enumerated()
        {
            let answer = try await view.ask(10 + number, "ui/open-link", ["url": .string(url)])
            #expect(answer["error"]?["code"] == -32000)
        }
        #expect(fixture.all.count { if case .question = $0 { true } else { false } } == 2)
        #expect(fixture.all.count { if case .openLink = $0 { true } else { false } } == 1)
        await fixture.close()
    }

    // Section 5.9: a view that asks again after each refusal does not keep the user from everything else
    @Test func aViewThatIsRefusedAgainAndAgainIsNotAskedFor() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await open(fixture, server)
        let other = try await open(fixture, server)
        func asked() -> Int { fixture.all.count { if case .question = $0 { true } else { false } } }
        for id in 10 ..< 20 {
            await view.send(id, "ui/open-link", ["url": .string("https://example.com/\(id)")])
        }
        // One at a time: the next is asked when the one before has its answer.
        let first = try await fixture.question()
        await other.send(3, "ui/open-link", ["url": "https://example.com/other"])
        #expect(try await fixture.question(1).view == other.id)
        #expect(await fixture.host.snapshot().count { if case .question = $0 { true } else { false } } == 2)
        await fixture.host.answer(first.id, .allow())
        #expect(try await view.answer(to: 10)["result"] == [:])
        for number in 2 ... 4 { await fixture.host.answer(try await fixture.question(number).id, .deny) }
        for id in 11 ..< 20 { #expect(try await view.answer(to: id)["error"]?["code"] == -32000) }
        #expect(
            try await view.ask(30, "ui/open-link", ["url": "https://example.com/"])["error"]?["code"]
                == -32000)
        #expect(asked() == 5)
        let lines = fixture.all.count {
            if case .log(let line) = $0 {
                line.data.stringValue?.contains("refused without asking") == true
            } else {
                false
            }
        }
        #expect(lines == 1)
        // Of the other view nothing was refused; the user's reload lets the first ask again.
        await other.send(4, "ui/open-link", ["url": "https://example.com/more"])
        await fixture.host.answer(try await fixture.question(1).id, .deny)
        #expect(try await fixture.question(5).view == other.id)
        await fixture.host.reloadView(view.id)
        try await view.begin(id: 31)
        await view.send(32, "ui/open-link", ["url": "https://example.com/again"])
        #expect(try await fixture.question(6).view == view.id)
        await fixture.close()
    }

    // A41
    @Test func filesAreSavedUnderAHarmlessName() async throws {
        let fixture = await HostFixture()
        let view = try await open(fixture, try await fixture.add(try UIServer().server, as: "one"))
        let contents: JSONValue = [
            [
                "type": "resource",
                "resource": ["uri": "file:///a/..%2f..%2f.x", "mimeType": "text/plain", "text": "hello"],
            ],
            ["type": "resource_link", "uri": "test:///data.bin", "name": "data"],
        ]
        await view.send(3, "ui/download-file", ["contents": contents])
        let question = try await fixture.question()
        guard case .download(let files) = question.subject else { throw NothingThere() }
        #expect(files.map(\.name) == ["x", "data.bin"])
        #expect(files.map(\.bytes) == [5, nil])
        await fixture.host.answer(question.id, .allow())
        #expect(try await view.answer(to: 3)["result"] == [:])
        let saved = fixture.all.compactMap { if case .download(let file) = $0 { file } else { nil } }
        #expect(saved.map(\.name) == ["x", "data.bin"])
        #expect(saved.map(\.bytes) == [Array("hello".utf8), [1, 2, 3]])
        await view.send(4, "ui/download-file", ["contents": contents])
        await fixture.host.answer(try await fixture.question(1).id, .deny)
        #expect(try await view.answer(to: 4)["error"]?["code"] == -32000)
        #expect(try await view.ask(5, "ui/download-file", ["contents": []])["error"]?["code"] == -32602)
        await fixture.close()
    }

    @Test(arguments: [
        ("file:///a/b.txt", "b.txt"), ("https://h/x?y=../z", "x"), ("ui://a/../../x", "x"),
        ("file:///%2e%2e", "download"), ("file:///a%5Cb", "b"),
        ("x:///a%0Ab%E2%80%AEgpj.exe", "abgpj.exe"),
        ("file:///", "download"),
        ("file:///" + String(repeating: "n", count: 999), String(repeating: "n", count: 120)),
        // A delimiter and a mark or a joiner behind it are one character in Swift.
        ("f:/%E2%80%8D../%E2%80%8D../%E2%80%8Dtmp/x.txt", "x.txt"), ("f:/a/%CC%81b", "\u{301}b"),
        ("f:/a%5C%CC%81b%3A%EF%B8%8Fc", "c"), ("f:/a?%CC%81/b", "a"), ("f:/a#\u{301}/b", "a"),
        ("f:/.%CC%81x", "\u{301}x"), ("f:/%E2%80%8B..%2Fx", "x"), ("f:/%E2%80%8B.bashrc", "bashrc"),
        ("f:/a%E2%80%A9%EF%B8%8Fb", "ab"),
    ])
    func nameOfAFile(_ uri: String, _ name: String) {
        #expect(FileNameInURI.name(uri).unicodeScalars.elementsEqual(name.unicodeScalars))
    }

    // A43
    @Test func aCallOfAViewIsApprovedOutsideOfIt() async throws {
        let ui = try UIServer()
        let fixture = await HostFixture(HostFixture.options(.ask([])))
        let server = try await fixture.add(ui.server, as: "one")
        let call = try await fixture.host.call(server, "chart")
        await fixture.host.answer(try await fixture.question().id, .allow())
        let view = try await fixture.view(of: call)
        try await view.begin()
        await view.send(3, "tools/call", ["name": "tick"])
        let question = try await fixture.question(1)
        guard case .approval(let request) = question.subject else { throw NothingThere() }
        #expect(request.requestedBy == .view && question.view == view.id)
        await fixture.host.answer(question.id, .deny)
        #expect(try await view.answer(to: 3)["error"]?["code"] == -32000)
        #expect(!ui.called.contains { $0.hasPrefix("tick") })
        // A view that gives up takes the question with it.
        await view.send(4, "tools/call", ["name": "tick"])
        let second = try await fixture.question(2)
        await view.say("notifications/cancelled", ["requestId": 4])
        _ = try await fixture.first { event in
            if case .questionClosed(second.id) = event { true } else { nil }
        }
        await fixture.close()
    }

    // One view must not fill the memory, nor a page that is loaded again.
    @Test(.ownThreads) func whatAViewLeavesBehindIsBounded() async throws {
        let ui = try UIServer()
        let big = String(repeating: "b", count: 3 << 20)
        try ui.server.register(Tool("big", inputSchema: ["type": "object"])) { _, _ in .text(big) }
        let fixture = await HostFixture()
        let view = try await open(fixture, try await fixture.add(ui.server, as: "one"))
        for id in 10 ..< 18 {
            let arguments: JSONValue = ["name": "big", "arguments": ["n": JSONValue(id)]]
            let answer = try await view.ask(id, "tools/call", arguments)
            #expect(answer["result"]?["content"]?[0]?["text"]?.stringValue?.utf8.count == 3 << 20)
        }
        let long = String(repeating: "m", count: 1 << 19)
        for id in 20 ..< 32 {
            _ = try await view.ask(
                id, "ui/message", ["role": "user", "content": [["type": "text", "text": .string(long)]]])
        }
        let snapshot = await fixture.host.snapshot()
        let calls = snapshot.compactMap {
            if case .call(let call) = $0, call.tool == "big" { call } else { nil }
        }
        #expect(calls.count == 8)
        #expect(calls.map { $0.result == nil } == [true, true, true] + Array(repeating: false, count: 5))
        #expect(
            calls[0].problem?.contains("evicted") == true && calls[0].arguments == "no longer kept")
        #expect(calls[7].problem == nil && calls[7].arguments == ["n": 17])
        let said = snapshot.compactMap {
            if case .conversation(let item) = $0 { item.text.utf8.count } else { nil }
        }
        #expect(said.count == 7 && said.reduce(0, +) <= AppHost.maxConversationBytes)
        // The history has neither long arguments of a view nor long results.
        _ = try await view.ask(
            40, "tools/call", ["name": "tick", "arguments": ["long": .string(long)]])
        let entry = try #require(await fixture.host.history().last)
        #expect(entry.json["arguments"]?.stringValue?.contains("too large for the history") == true)
        #expect(entry.json["result"]?.stringValue?.contains("too large for the history") == true)
        await fixture.close()
    }

    @Test func thereAreNoMoreViewsThanAllowed() async throws {
        let release = Gate()
        let ui = try UIServer()
        try ui.server.register(
            Resource("ui://test/late", name: "late", mimeType: "text/html;profile=mcp-app")
        ) { _ in
            await release.wait()
            return [.text("<p>", uri: "ui://test/late", mimeType: "text/html;profile=mcp-app")]
        }
        try ui.server.register(
            Tool("late", inputSchema: ["type": "object"], meta: ["ui": ["resourceUri": "ui://test/late"]])
        ) { _, _ in .text("there") }
        var options = HostFixture.options()
        options.maxViews = 3
        let fixture = await HostFixture(options)
        let server = try await fixture.add(ui.server, as: "one")
        // Two are open, and one call of a view opens no third.
        let view = try await open(fixture, server)
        #expect(try await view.ask(5, "tools/call", ["name": "chart"])["result"] != nil)
        _ = try await open(fixture, server)
        // Those that are being read count.
        var calls: [HostedCall.ID] = []
        for _ in 1 ... 5 { calls.append(try await fixture.host.call(server, "late")) }
        var ended: [HostedCall] = []
        for call in calls { ended.append(try await fixture.call(call)) }
        #expect(ended.count { $0.problem?.contains("3 views are already open") == true } == 4)
        release.open()
        #expect(
            await comesTrue { fixture.all.count { if case .viewOpened = $0 { true } else { false } } == 3 })
        #expect(ended.allSatisfy { $0.result?.text == "there" })
        await fixture.close()
    }

    // A13 A14
    @Test func whatAViewTellsIsShown() async throws {
        let fixture = await HostFixture()
        let view = try await open(fixture, try await fixture.add(try UIServer().server, as: "one"))
        await fixture.host.changeRoom(ViewBounds(width: 400, maxHeight: 300), of: view.id)
        await view.say("notifications/message", ["level": "warning", "logger": "chart", "data": ["n": 1]])
        let line = try await fixture.first { event in
            if case .log(let line) = event, line.data == ["n": 1] { line } else { nil }
        }
        #expect(line.level == .warning && line.source == "view of one, chart")
        await view.say("ui/notifications/size-changed", ["height": 150])
        await view.say("ui/notifications/size-changed", ["height": -3])
        await view.say("ui/notifications/size-changed", ["height": 9_000])
        _ = try await view.ask(4, "ping")
        let sizes = fixture.all.compactMap { event -> Double? in
            if case .viewSize(view.id, _, let height) = event { height } else { nil }
        }
        #expect(sizes == [150, 300])
        await fixture.close()
    }

    // A35 A36
    @Test func viewsHearWhatChangedAndOnlyThat() async throws {
        let fixture = await HostFixture()
        var page = HostEnvironment()
        page.theme = "light"
        page.locale = "de-CH"
        page.timeZone = "Europe/Zurich"
        page.platform = "desktop"
        await fixture.host.changeContext(page)
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await fixture.view(of: fixture.host.call(server, "chart"))
        let context = try await view.begin()["hostContext"]
        #expect(context?["theme"] == "light" && context?["locale"] == "de-CH")
        #expect(context?["timeZone"] == "Europe/Zurich" && context?["platform"] == "desktop")
        #expect(context?["displayMode"] == "inline")
        var dark = HostEnvironment()
        dark.theme = "dark"
        await fixture.host.changeContext(dark)
        #expect(try await view.params(of: "ui/notifications/host-context-changed") == ["theme": "dark"])
        await fixture.host.changeRoom(ViewBounds(width: 300, maxHeight: 200), of: view.id)
        #expect(await comesTrue { view.methods.count { $0 == "ui/notifications/host-context-changed" } == 2 })
        #expect(
            view.received.last?["params"] == ["containerDimensions": ["width": 300, "maxHeight": 200]])
        // Nothing changed: nothing is said.
        await fixture.host.changeRoom(ViewBounds(width: 300, maxHeight: 200), of: view.id)
        _ = try await view.ask(9, "ping")
        #expect(view.methods.count { $0 == "ui/notifications/host-context-changed" } == 2)
        await fixture.close()
    }

    // A37
    @Test func aModeIsTakenWhenBothSidesHaveIt() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let able = try await open(fixture, server, ["availableDisplayModes": ["inline", "fullscreen"]])
        let answer = try await able.ask(3, "ui/request-display-mode", ["mode": "fullscreen"])
        #expect(answer["result"] == ["mode": "fullscreen"])
        _ = try await fixture.first { event in
            if case .viewMode(able.id, .fullscreen) = event { true } else { nil }
        }
        #expect(
            try await able.params(of: "ui/notifications/host-context-changed")["displayMode"] == "fullscreen")
        #expect(
            try await able.ask(4, "ui/request-display-mode", ["mode": "pip"])["result"] == [
                "mode": "fullscreen"
            ])
        let unable = try await open(fixture, server)
        #expect(
            try await unable.ask(3, "ui/request-display-mode", ["mode": "fullscreen"])["result"] == [
                "mode": "inline"
            ])
        #expect(await fixture.host.setMode(.fullscreen, of: unable.id) == .inline)
        // There is room for one.
        let other = try await open(fixture, server, ["availableDisplayModes": ["fullscreen"]])
        #expect(await fixture.host.setMode(.fullscreen, of: other.id) == .fullscreen)
        #expect(await fixture.host.view(able.id)?.mode == .inline)
        #expect(await fixture.host.view(other.id)?.mode == .fullscreen)
        await fixture.close()
    }

    // A39
    @Test func aViewTakesItsLeave() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await open(fixture, server)
        await fixture.host.closeView(view.id)
        #expect(await comesTrue { view.methods.contains("ui/resource-teardown") })
        #expect(!fixture.all.contains { if case .viewClosed = $0 { true } else { false } })
        let request = view.received.last { $0["method"] == "ui/resource-teardown" }
        await fixture.host.receive(
            [["jsonrpc": "2.0", "id": request?["id"] ?? .null, "result": [:]]], from: view.id)
        _ = try await fixture.first { event in
            if case .viewClosed(view.id) = event { true } else { nil }
        }
        // One that asks for it itself.
        let second = try await open(fixture, server)
        await second.say("ui/notifications/request-teardown")
        _ = try await second.params(of: "ui/resource-teardown")
        await fixture.close()
    }

    // A39
    @Test func aDeadViewIsRemovedWithItsCall() async throws {
        var options = HostFixture.options()
        options.teardownTimeout = .milliseconds(20)
        let fixture = await HostFixture(options)
        let ui = try UIServer()
        let server = try await fixture.add(ui.server, as: "one")
        let call = try await fixture.host.call(server, "slow")
        let view = try await fixture.view(of: call)
        try await view.begin()
        #expect(await comesTrue { ui.started.value == 1 })
        await fixture.host.closeView(view.id)
        _ = try await fixture.first { event in
            if case .viewClosed(view.id) = event { true } else { nil }
        }
        #expect(try await fixture.call(call).state == .cancelled)
        #expect(await ui.cancelled.wait())
        await fixture.host.receive([["jsonrpc": "2.0", "id": 1, "method": "ping"]], from: view.id)
        #expect(await fixture.host.view(view.id) == nil)
        await fixture.close()
    }

    // A28
    @Test func aPageThatIsLoadedAgainHasEverythingBack() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await open(fixture, server)
        _ = try await view.params(of: "ui/notifications/tool-result")
        _ = try await view.ask(5, "tools/call", ["name": "tick"])
        let all = await fixture.host.snapshot().map { event -> String in
            switch event {
            case .server(let server): "server \(server.name)"
            case .tools: "tools"
            case .history(let entry): "history \(entry.tool)"
            case .call(let call): "call \(call.tool)"
            case .viewOpened(let view): "view \(view.id)"
            case .log: "log"
            default: "other"
            }
        }
        let words = Array(all.drop { $0 == "log" })
        let past = ["history chart", "history tick"]
        // The call of the view stands in it.
        #expect(words == ["server one", "tools"] + past + ["call chart", "view \(view.id)", "call tick"])
        // The frame is new, and is told everything once more.
        let before = view.methods.count { $0 == "ui/notifications/tool-result" }
        await view.say("ui/notifications/sandbox-proxy-ready")
        _ = try await view.ask(
            2, "ui/initialize",
            [
                "protocolVersion": "2026-01-26", "appInfo": ["name": "p", "version": "1"],
                "appCapabilities": [:],
            ])
        await view.say("ui/notifications/initialized")
        #expect(await comesTrue { view.methods.count { $0 == "ui/notifications/tool-result" } == before + 1 })
        #expect(view.methods.count { $0 == "ui/notifications/sandbox-resource-ready" } == 2)
        await fixture.close()
    }
}
