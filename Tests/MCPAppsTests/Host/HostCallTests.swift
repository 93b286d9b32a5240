import TestSupport
import Testing

@testable import MCPApps
@testable import MCPCore
@testable import MCPHarness

/// Calls at a host: by the user, with and without a view.
@Suite(.timeLimit(.minutes(5))) struct HostCallTests {
    // A18 A06 A10; security/sandbox-resource-ready
    @Test func inputThenResultOnceTheViewIsThere() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let call = try await fixture.host.call(server, "chart", ["of": "rain"])
        let view = try await fixture.view(of: call)
        #expect(try await fixture.call(call).state == .completed)
        // The result is there already, and the view is told nothing before it has said that it is ready.
        let context = try await view.begin()
        #expect(context["hostContext"]?["toolInfo"]?["tool"]?["name"] == "chart")
        let result = try await view.params(of: "ui/notifications/tool-result")
        #expect(result["structuredContent"] == ["points": [1, 2, 3]])
        #expect(result["_meta"]?["secret"] == "for the view")
        #expect(
            view.methods == [
                "ui/notifications/sandbox-resource-ready", "ui/notifications/tool-input",
                "ui/notifications/tool-result",
            ])
        #expect(try await view.params(of: "ui/notifications/tool-input") == ["arguments": ["of": "rain"]])
        let html = try await view.params(of: "ui/notifications/sandbox-resource-ready")["html"]
        #expect(html?.stringValue == UIServer.html)
        await fixture.close()
    }

    // A18 A29
    @Test func aSlowToolShowsItsViewBeforeItsResult() async throws {
        let ui = try UIServer()
        let fixture = await HostFixture()
        let server = try await fixture.add(ui.server, as: "one")
        let call = try await fixture.host.call(server, "slow")
        let view = try await fixture.view(of: call)
        try await view.begin()
        _ = try await view.params(of: "ui/notifications/tool-input")
        let ready = try await fixture.call(call) { $0.state == .ready && $0.progress != nil }
        #expect(ready.progress == ProgressReport(1, total: 4, message: "a quarter"))
        #expect(!view.methods.contains("ui/notifications/tool-result"))
        ui.release.open()
        #expect(
            try await view.params(of: "ui/notifications/tool-result")["content"]?[0]?["text"] == "at last")
        #expect(try await fixture.call(call).state == .completed)
        let states = fixture.states(of: call)
        #expect(states.first == .queued)
        #expect(states.contains(.loadingUI))
        #expect(states.suffix(2) == [.ready, .completed])
        await fixture.close()
    }

    /// A call of the user reaches the client that the user was shown, or none.
    @Test func anotherClientRunsNothing() async throws {
        let offered = MCPServer("chan", version: "1")
        func offer(_ client: String) throws {
            let tool = Tool(
                "save", inputSchema: ["type": "object"], meta: [VendorKey.clientID: .string(client)])
            try offered.register(tool) { _, context in
                .text("\(client) for \(context.meta?[VendorKey.clientID]?.string ?? "nobody")")
            }
        }
        try offer("bank")
        let fixture = await HostFixture()
        let server = try await fixture.add(offered, as: "chan")
        let call = try await fixture.host.call(server, "save", [:], of: "bank")
        #expect(try await fixture.call(call).result?.text == "bank for bank")
        let again = try await fixture.host.retry(call)
        #expect(try await fixture.call(again).result?.text == "bank for bank")
        #expect(offered.unregisterTool("save"))
        try offer("eve")
        _ = try await fixture.first { event in
            if case .tools(_, let tools) = event, tools.first?.clientID == "eve" { true } else { nil }
        }
        await #expect(throws: AppHostError.otherClient(tool: "save")) {
            try await fixture.host.call(server, "save", [:], of: "bank")
        }
        await #expect(throws: AppHostError.otherClient(tool: "save")) { try await fixture.host.retry(call) }
        #expect("\(AppHostError.otherClient(tool: "save"))".contains("nothing was called"))
        await fixture.close()
    }

    // A29
    @Test func givingUpTellsTheServerAndTheView() async throws {
        let ui = try UIServer()
        let fixture = await HostFixture()
        let server = try await fixture.add(ui.server, as: "one")
        let call = try await fixture.host.call(server, "slow")
        let view = try await fixture.view(of: call)
        try await view.begin()
        _ = try await view.params(of: "ui/notifications/tool-input")
        #expect(await comesTrue { ui.started.value == 1 })
        await fixture.host.cancel(call)
        _ = try await view.params(of: "ui/notifications/tool-cancelled")
        #expect(await ui.cancelled.wait())
        #expect(try await fixture.call(call).state == .cancelled)
        #expect(!view.methods.contains("ui/notifications/tool-result"))
        await fixture.close()
    }

    // A19
    @Test func aToolWithoutAViewHasItsResult() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let call = try await fixture.call(fixture.host.call(server, "plain"))
        #expect(call.state == .completed)
        #expect(call.result?.text == "without a view")
        #expect(call.view == nil)
        await fixture.close()
    }

    // A04 A07
    @Test func argumentsArriveAsTheyWereGiven() async throws {
        let ui = try UIServer()
        let fixture = await HostFixture()
        let server = try await fixture.add(ui.server, as: "one")
        let arguments = try JSONValue(parsing: #"{"a":[1,{"b":null}],"c":1.50,"d":{"e":[]},"f":true}"#)
        _ = try await fixture.call(fixture.host.call(server, "plain", arguments))
        #expect(ui.called == [#"plain {"a":[1,{"b":null}],"c":1.50,"d":{"e":[]},"f":true}"#])
        await fixture.close()
    }

    // A05
    @Test func argumentsThatDoNotFitNameThePathAndAreNotSent() async throws {
        let server = MCPServer("forms", version: "1")
        let calls = Counter()
        try server.register(
            Tool(
                "book",
                inputSchema: [
                    "type": "object", "required": ["guests"],
                    "properties": ["guests": ["type": "array", "items": ["type": "integer", "minimum": 1]]],
                ])
        ) { _, _ in
            calls.increment()
            return .text("booked")
        }
        let fixture = await HostFixture()
        let id = try await fixture.add(server, as: "forms")
        let violations = try await fixture.host.validate(id, "book", ["guests": [1, 0]])
        #expect(violations.map(\.description).joined().contains("/guests/1"))
        #expect(try await fixture.host.validate(id, "book", ["guests": [1]]).isEmpty)
        let call = try await fixture.call(fixture.host.call(id, "book", ["guests": [1, 0]]))
        #expect(call.state == .failed)
        #expect(call.problem?.contains("/guests/1") == true)
        #expect(calls.value == 0)
        await fixture.close()
    }

    // A24
    @Test func aToolThatFailsIsAResultAndAnErrorOfTheServerIsNone() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let failed = try await fixture.host.call(server, "fails")
        let view = try await fixture.view(of: failed)
        try await view.begin()
        #expect(try await view.params(of: "ui/notifications/tool-result")["isError"] == true)
        #expect(try await fixture.call(failed).state == .failed)
        await #expect(throws: AppHostError.unknownTool("nothing")) {
            try await fixture.host.call(server, "nothing")
        }
        let gone = HostedServer.ID(rawValue: "s99")
        await #expect(throws: AppHostError.unknownServer(gone)) { try await fixture.host.call(gone, "x") }
        await #expect(throws: AppHostError.invalidArguments) {
            try await fixture.host.call(server, "plain", [1])
        }
        await fixture.close()
    }

    // A24: a tool that takes longer than the host waits
    @Test func aToolThatTakesTooLongIsSaid() async throws {
        var options = HostFixture.options()
        options.timeout = .seconds(2)
        let ui = try UIServer()
        let quiet = Gate()
        try ui.server.register(Tool("quiet", inputSchema: ["type": "object"])) { _, _ in
            _ = await quiet.wait()
            return .text("late")
        }
        let fixture = await HostFixture(options)
        let server = try await fixture.add(ui.server, as: "one")
        let late = try await fixture.call(fixture.host.call(server, "quiet"))
        #expect(late.state == .failed)
        let said = (late.problem ?? "") + (late.result?.text ?? "")
        #expect(said.contains("within 2 s"), "\(late)")
        // The host goes on.
        #expect(try await fixture.call(fixture.host.call(server, "plain")).state == .completed)
        await fixture.close()
    }

    // A32 A33
    @Test func whatWasCalledIsCalledAgainAndRemembered() async throws {
        let ui = try UIServer()
        let fixture = await HostFixture()
        let server = try await fixture.add(ui.server, as: "one")
        let first = try await fixture.host.call(server, "plain", ["n": 1])
        _ = try await fixture.call(first)
        let second = try await fixture.host.retry(first)
        _ = try await fixture.call(second)
        #expect(first != second)
        #expect(ui.called == [#"plain {"n":1}"#, #"plain {"n":1}"#])
        let history = await fixture.host.history()
        #expect(history.map(\.tool) == ["plain", "plain"])
        #expect(history.map(\.server) == ["one", "one"])
        #expect(Set(history.map(\.id)).count == 2)
        let entry = history[0].json
        #expect(entry["by"] == "user" && entry["state"] == "completed" && entry["arguments"] == ["n": 1])
        #expect(entry["result"]?["content"]?[0]?["text"] == "without a view")
        #expect(entry["milliseconds"]?.intValue != nil)
        // Written and read again, it is the same entry.
        let read = HistoryEntry(json: try JSONValue(parsing: JSONValue.object(entry).serialized()))
        #expect(read?.id == history[0].id)
        await fixture.close()
        await #expect(throws: AppHostError.self) { try await fixture.host.retry(HostID(rawValue: "c999")) }
    }

    // A43
    @Test func theUserDecidesBeforeTheServerIsCalled() async throws {
        let ui = try UIServer()
        let fixture = await HostFixture(HostFixture.options(.ask([])))
        let server = try await fixture.add(ui.server, as: "one")
        let denied = try await fixture.host.call(server, "plain", ["n": 1])
        let question = try await fixture.question()
        guard case .approval(let request) = question.subject else { throw NothingThere() }
        #expect(request.invocation.name == "plain" && question.server == "one" && question.view == nil)
        #expect(ui.called.isEmpty)
        await fixture.host.answer(question.id, .deny)
        #expect(try await fixture.call(denied).state == .denied)
        let allowed = try await fixture.host.call(server, "plain", ["n": 2])
        await fixture.host.answer(try await fixture.question(1).id, .allow(remember: .run))
        #expect(try await fixture.call(allowed).state == .completed)
        // The decision holds.
        #expect(try await fixture.call(fixture.host.call(server, "plain", ["n": 3])).state == .completed)
        #expect(ui.called == [#"plain {"n":2}"#, #"plain {"n":3}"#])
        // A call that is given up takes its question back.
        let given = try await fixture.host.call(server, "chart")
        let open = try await fixture.question(2)
        await fixture.host.cancel(given)
        _ = try await fixture.first { event in
            if case .questionClosed(open.id) = event { true } else { nil }
        }
        #expect(try await fixture.call(given).state == .cancelled)
        #expect(await fixture.host.answer(open.id, .deny) == false)
        await fixture.close()
    }

    // A16
    @Test(arguments: [
        ("text/html", "<p>", "text/html"), ("text/html;profile=mcp-app", nil, "not found"),
    ])
    func aDocumentThatCannotBeShownIsSaid(_ mimeType: String, _ html: String?, _ word: String) async throws {
        let server = MCPServer("bad", version: "1")
        try server.register(
            Tool("chart", inputSchema: ["type": "object"], meta: ["ui": ["resourceUri": "ui://bad/chart"]])
        ) { _, _ in .text("the result is there") }
        try server.register(Resource("ui://bad/chart", name: "chart", mimeType: mimeType)) { _ in
            html.map { [.text($0, uri: "ui://bad/chart", mimeType: mimeType)] } ?? []
        }
        let fixture = await HostFixture()
        let id = try await fixture.add(server, as: "bad")
        let call = try await fixture.host.call(id, "chart")
        let problem = try await fixture.call(call) { $0.problem != nil }
        #expect(problem.problem?.contains("cannot be shown") == true)
        #expect(problem.problem?.contains(word) == true, "\(problem.problem ?? "")")
        #expect(try await fixture.call(call) { $0.state == .completed }.result?.text == "the result is there")
        #expect(await fixture.host.snapshot().allSatisfy { if case .viewOpened = $0 { false } else { true } })
        await fixture.close()
    }

    // resources/read-referenced, resources/prefetch: the document is read from the server, and kept for as long
    // as the server allows.
    @Test(arguments: [(Duration.zero, 2), (.seconds(3_600), 1)])
    func theDocumentIsRead(_ ttl: Duration, _ count: Int) async throws {
        let reads = Counter()
        let ui = try UIServer(readTTL: ttl) {
            reads.increment()
            return UIServer.html
        }
        let fixture = await HostFixture()
        let server = try await fixture.add(ui.server, as: "one")
        for _ in 1 ... 2 {
            let view = try await fixture.view(of: fixture.host.call(server, "chart"))
            #expect(view.view.resource.uri == UIServer.uri && view.view.resource.html == UIServer.html)
        }
        #expect(reads.value == count)
        await fixture.close()
    }

    // security/csp-audit-log, security/external-domain-warning, security/global-allowlist
    @Test func whatAViewMayReachIsLoggedAndLimited() async throws {
        let server = MCPServer("far", version: "1")
        try server.addUIResource(
            "ui://far/map", html: "<!doctype html>",
            csp: UICSPDomains(
                connect: ["https://tiles.example", "https://spy.example", "https://a;script-src *"]))
        try server.addUITool(
            Tool("map", inputSchema: ["type": "object"]), resourceURI: "ui://far/map"
        ) { _, _ in .text("a map") }
        var options = HostFixture.options()
        options.csp.allowedDomains = ["tiles.example"]
        let fixture = await HostFixture(options)
        let id = try await fixture.add(server, as: "far")
        let view = try await fixture.view(of: fixture.host.call(id, "map")).view
        #expect(view.csp.header(hostOrigin: "http://h").contains("connect-src https://tiles.example;"))
        #expect(view.csp.externalDomains == ["https://tiles.example"])
        #expect(view.csp.rejected == ["https://spy.example", "https://a;script-src *"])
        let lines = fixture.all.compactMap { event -> String? in
            if case .log(let line) = event { line.data.stringValue } else { nil }
        }
        #expect(
            lines.contains { $0.hasPrefix("policy: default-src 'none';") && $0.contains("tiles.example") })
        #expect(lines.contains("the view may reach https://tiles.example"))
        #expect(lines.contains { $0.hasPrefix("left out of the policy") && $0.contains("spy.example") })
        await fixture.close()
    }

    // A21
    @Test func aDocumentThatChangedIsMarked() async throws {
        let text = Counter()
        let ui = try UIServer { "<!doctype html>\(text.value)" }
        let fixture = await HostFixture()
        let server = try await fixture.add(ui.server, as: "one")
        func open() async throws -> HostedView {
            let call = try await fixture.host.call(server, "chart")
            let view = try await fixture.view(of: call)
            _ = try await fixture.call(call)
            return view.view
        }
        let first = try await open()
        #expect(!first.hasChanged && first.resource.hash.count == 64)
        #expect(try await open().hasChanged == false)
        text.increment()
        let changed = try await open()
        #expect(changed.hasChanged && changed.resource.hash != first.resource.hash)
        // What another run remembered counts too, however much a view has called since.
        let flood = try (1 ... 1_100).map { number in
            try #require(
                HistoryEntry(json: ["id": "f\(number)", "server": "one", "tool": "tick", "by": "view"]))
        }
        var options = HostFixture.options()
        options.history = await fixture.host.history() + flood
        let kept = await AppHost(options).history()
        #expect(kept.count == 3 + AppHost.maxViewHistory && kept.count { $0.tool == "chart" } == 3)
        #expect(kept.last?.id == "f1100")
        let later = await HostFixture(options)
        text.increment()
        let again = try await later.add(ui.server, as: "one")
        #expect(try await later.view(of: later.host.call(again, "chart")).view.hasChanged)
        await later.close()
        await fixture.close()
    }
}
