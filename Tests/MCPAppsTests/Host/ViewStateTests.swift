import MCPCore
import MCPHarness
import Synchronization
import TestSupport
import Testing

@testable import MCPApps

/// What the user decides about a view, and what the user sees of it.
@Suite struct ViewStateTests {
    private func open(
        _ fixture: HostFixture, _ server: HostedServer.ID, _ app: JSONValue = [:]
    ) async throws -> PlayedView {
        let view = try await fixture.view(of: try await fixture.host.call(server, "chart"))
        try await view.begin(app)
        return view
    }

    // D3: a view that the user put back stays there, for as long as it asks
    @Test func aViewThatWasPutBackStaysThere() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await open(
            fixture, server, ["availableDisplayModes": ["inline", "fullscreen", "pip"]])
        func mode(_ id: Int, _ mode: JSONValue) async throws -> JSONValue? {
            try await view.ask(id, "ui/request-display-mode", ["mode": mode])["result"]?["mode"]
        }
        #expect(try await mode(3, "fullscreen") == "fullscreen")
        await fixture.host.setMode(.inline, of: view.id)
        func isHeld() async -> Bool? { await fixture.host.view(view.id)?.isHeld }
        #expect(await isHeld() == false)
        #expect(try await mode(4, "fullscreen") == "inline")
        #expect(try await mode(5, "pip") == "inline")
        #expect(await isHeld() == true)
        // The user may.
        #expect(await fixture.host.setMode(.fullscreen, of: view.id) == .fullscreen)
        #expect(await isHeld() == false)
        // Closing takes the window back at once, however long the view takes to shut down.
        await fixture.host.closeView(view.id)
        #expect(await fixture.host.view(view.id)?.mode == .inline)
        await fixture.close()
    }

    // Once it may ask again, nothing says that it may not.
    @Test func aViewThatWasPutBackIsTold() async throws {
        // Each look at the clock takes nine seconds.
        let time = Mutex(ContinuousClock.now)
        let fixture = await HostFixture(now: {
            time.withLock { now in
                now += .seconds(9)
                return now
            }
        })
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await open(fixture, server, ["availableDisplayModes": ["inline", "fullscreen"]])
        await fixture.host.setMode(.inline, of: view.id)
        _ = try await view.ask(3, "ui/request-display-mode", ["mode": "fullscreen"])
        func isHeld(_ event: HostEvent) -> Bool? {
            if case .view(let view) = event { view.isHeld } else { nil }
        }
        #expect(
            await comesTrue {
                let all = fixture.all.compactMap(isHeld)
                return all.contains(true) && all.last == false
            })
        await fixture.close()
    }

    // A view that changes its mode all the time is put back, and stays there for as long as it asks.
    @Test func aViewThatFlickersIsPutBack() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await open(
            fixture, server, ["availableDisplayModes": ["inline", "fullscreen", "pip"]])
        var answers: [JSONValue?] = []
        for id in 3 ..< 3 + AppHost.maxModeChanges + 2 {
            let mode: JSONValue = id % 2 == 0 ? "pip" : "fullscreen"
            answers.append(
                try await view.ask(id, "ui/request-display-mode", ["mode": mode])["result"]?["mode"])
        }
        let allowed: [JSONValue?] = (0 ..< AppHost.maxModeChanges).map { $0 % 2 == 0 ? "fullscreen" : "pip" }
        #expect(answers == allowed + ["inline", "inline"])
        #expect(await fixture.host.setMode(.fullscreen, of: view.id) == .fullscreen)
        await fixture.close()
    }

    @Test func escapeInTheViewPutsItBack() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await open(fixture, server, ["availableDisplayModes": ["fullscreen"]])
        _ = try await view.ask(3, "ui/request-display-mode", ["mode": "fullscreen"])
        await view.say("ui/notifications/sandbox-escape")
        #expect(await fixture.host.view(view.id)?.mode == .inline)
        await fixture.close()
    }

    /// WCAG 2.1.2: a view may keep Tab for itself; Escape leads out of it.
    @Test func escapeInAViewInItsPlaceIsTold() async throws {
        let fixture = await HostFixture()
        let view = try await open(fixture, try await fixture.add(try UIServer().server, as: "one"))
        await view.say("ui/notifications/sandbox-escape")
        let mode = try await fixture.first { event in
            if case .viewMode(view.id, let mode) = event { mode } else { nil }
        }
        #expect(mode == .inline)
        await fixture.close()
    }

    // D5, D7: the type is a type, and what is not the server's is refused without a question
    @Test func whatIsSavedIsWhatWasAsked() async throws {
        let fixture = await HostFixture()
        let view = try await open(fixture, try await fixture.add(try UIServer().server, as: "one"))
        let resource: JSONValue = [
            "uri": "file:///t.txt", "mimeType": "text/html,<h1>hi</h1>", "text": "hello",
        ]
        await view.send(3, "ui/download-file", ["contents": [["type": "resource", "resource": resource]]])
        let question = try await fixture.question()
        guard case .download(let files) = question.subject else { throw NothingThere() }
        #expect(
            files == [
                HostedFile(
                    name: "t.txt", mimeType: "application/octet-stream", bytes: 5, uri: "file:///t.txt")
            ])
        await fixture.host.answer(question.id, .allow())
        let file = try await fixture.first { if case .download(let file) = $0 { file } else { nil } }
        #expect(file.mimeType == "application/octet-stream" && file.bytes == Array("hello".utf8))
        let link: JSONValue = ["type": "resource_link", "uri": "https://example.com/a.zip", "name": "a"]
        let answer = try await view.ask(4, "ui/download-file", ["contents": [link]])
        #expect(answer["error"]?["code"] == -32000)
        #expect(answer["error"]?["message"]?.stringValue?.contains("ui/open-link") == true)
        await fixture.close()
    }

    @Test(arguments: [
        ("text/plain", "text/plain"), ("Text/HTML; charset=utf-8", "text/html"),
        ("image/svg+xml", "image/svg+xml"),
        ("text", "application/octet-stream"), ("text/", "application/octet-stream"),
        ("a/b/c", "application/octet-stream"), ("text/html,<h1>", "application/octet-stream"),
        ("text/x\r\ny", "application/octet-stream"),
    ])
    func typeOfAFile(_ type: String, _ plain: String) { #expect(MediaType.plain(type) == plain) }

    // D9, and "Allow all from this view"
    @Test func oneYesCanBeForAllCallsOfAView() async throws {
        let server = try UIServer()
        var options = HostFixture.options(nil)
        options.policies = PolicyTable()
        let fixture = await HostFixture(options)
        let id = try await fixture.add(server.server, as: "one")
        let (view, other) = (try await open(fixture, id), try await open(fixture, id))
        for number in 10 ..< 14 {
            await view.send(number, "tools/call", ["name": "plain", "arguments": ["n": JSONValue(number)]])
        }
        await other.send(20, "tools/call", ["name": "plain", "arguments": [:]])
        let (first, second) = (try await fixture.question(0), try await fixture.question(1))
        #expect(Set([first.view, second.view]) == [view.id, other.id])
        let mine = first.view == view.id ? first : second
        _ = try await fixture.first { event in
            if case .view(let told) = event, told.id == view.id, told.waitingQuestions == 3 {
                true
            } else {
                nil
            }
        }
        await fixture.host.answer(mine.id, .allowView)
        for number in 10 ..< 14 { #expect(try await view.answer(to: number)["result"] != nil) }
        #expect(try await view.ask(15, "tools/call", ["name": "plain", "arguments": [:]])["result"] != nil)
        #expect(await fixture.host.view(view.id)?.allowsCalls == true)
        // The other view still waits; and the user asks to be asked again.
        #expect(await fixture.host.view(other.id)?.allowsCalls == false)
        await fixture.host.askAgain(view.id)
        await view.send(16, "tools/call", ["name": "plain", "arguments": [:]])
        #expect(try await fixture.question(2).view == view.id)
        await fixture.close()
    }

    // A tool for views alone is what a view is for; one that destroys is asked for all the same
    @Test func toolsForViewsRunForViews() async throws {
        let server = try UIServer()
        let meta: JSONObject = ["ui": ["visibility": ["app"]]]
        let wipe = Tool(
            "wipe", inputSchema: ["type": "object"], annotations: ToolAnnotations(destructiveHint: true),
            meta: meta)
        try server.server.register(wipe) { _, _ in .text("wiped") }
        var options = HostFixture.options(nil)
        options.policies = PolicyTable()
        let fixture = await HostFixture(options)
        let id = try await fixture.add(server.server, as: "one")
        let view = try await open(fixture, id)
        #expect(try await view.ask(3, "tools/call", ["name": "tick", "arguments": [:]])["result"] != nil)
        await view.send(4, "tools/call", ["name": "wipe", "arguments": [:]])
        guard case .approval(let request) = try await fixture.question().subject else { throw NothingThere() }
        #expect(request.tool.name == "wipe")
        await fixture.close()
        // What the user's own policies say counts.
        var strict = HostFixture.options(nil)
        strict.policies = PolicyTable()
        strict.policies.set(.deny([]), for: "*/tick")
        let second = await HostFixture(strict)
        let other = try await open(second, try await second.add(try UIServer().server, as: "one"))
        #expect(
            try await other.ask(3, "tools/call", ["name": "tick", "arguments": [:]])["error"]?["code"]
                == -32000)
        await second.close()
    }

    // D10: the call says that its view is being loaded, and a view that was closed is shown again
    @Test func aViewIsShownAgain() async throws {
        let server = try UIServer()
        let fixture = await HostFixture()
        let id = try await fixture.add(server.server, as: "one")
        let call = try await fixture.host.call(id, "chart", ["a": 1])
        _ = try await fixture.call(call) { $0.isLoadingView }
        let view = try await fixture.view(of: call)
        try await view.begin()
        _ = try await fixture.call(call)
        await #expect(throws: AppHostError.unknownCall(call)) { try await fixture.host.showView(of: call) }
        await view.say("ui/notifications/request-teardown")
        let teardown = try await view.params(of: "ui/resource-teardown")
        #expect(teardown["reason"] == "closed")
        await fixture.host.viewStopped(view.id, .keyboard)
        await fixture.host.receive([["jsonrpc": "2.0", "id": 1, "result": [:]]], from: view.id)
        _ = try await fixture.call(call) { $0.canShowView && $0.view == nil }
        try await fixture.host.showView(of: call)
        let shown = try await fixture.first { event -> HostedView? in
            if case .viewOpened(let shown) = event, shown.call == call, shown.id != view.id {
                shown
            } else {
                nil
            }
        }
        let again = PlayedView(fixture, shown)
        try await again.begin()
        #expect(try await again.params(of: "ui/notifications/tool-input") == ["arguments": ["a": 1]])
        #expect(try await again.params(of: "ui/notifications/tool-result")["structuredContent"] != nil)
        #expect(server.called.count == 1)
        await fixture.close()
    }

    // D13, and why a view did not begin
    @Test func whyAViewDidNotBegin() async throws {
        var bench = ViewBench()
        bench.load()
        #expect(
            bench.notify("ui/notifications/sandbox-error", ["text": "cannot load x.js"]).events == [
                .failedToLoad("cannot load x.js")
            ])
        #expect(bench.notify("ui/notifications/sandbox-webrtc").events == [.usesWebRTC])
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await fixture.view(of: try await fixture.host.call(server, "chart"))
        await view.say("ui/notifications/sandbox-proxy-ready")
        for _ in 0 ..< 3 {
            await view.say(
                "ui/notifications/sandbox-csp-violation", ["directive": "script-src", "blockedURI": "eval"])
        }
        // What was told before the answer to this is there when the answer is.
        _ = try await view.ask(9, "ping")
        let levels = fixture.all.compactMap { event -> LoggingLevel? in
            guard case .log(let line) = event, line.data.stringValue?.contains("eval") == true else {
                return nil
            }
            return line.level
        }
        #expect(levels == [.info])
        let failures = [
            "cannot load “https://a.example/x.js”",
            "its policy blocked “https://a.example/x.js” (script-src-elem)",
            "its policy blocked “eval” (script-src)", "cannot load “y.png”",
            "it reports an error: “x is not defined”",
        ]
        for failure in failures.prefix(2) {
            let isBlocked = failure.hasPrefix("its policy")
            await view.say(
                isBlocked ? "ui/notifications/sandbox-csp-violation" : "ui/notifications/sandbox-error",
                isBlocked
                    ? ["directive": "script-src-elem", "blockedURI": "https://a.example/x.js"]
                    : ["text": "cannot load https://a.example/x.js"])
        }
        // What it says stays in one line and in its quotation marks.
        await view.say("ui/notifications/sandbox-error", ["text": "x”\nThe host\u{202E}"])
        await view.say(
            "ui/notifications/sandbox-csp-violation",
            ["directive": "The host says: go", "blockedURI": "a\nb"])
        _ = try await view.ask(10, "ping")
        let record = try #require(await fixture.host.views[view.id])
        #expect(
            record.failures.suffix(4) == failures.prefix(2) + [
                "it reports an error: “x\"\\nThe host\\u{202e}”",
                "its policy blocked “a\\nb” (“The host says: go”)",
            ])
        // Each cause is named once, and what is only probed for is none.
        var all = record
        all.failures = failures
        #expect(all.reasons == [failures[1], failures[3], failures[4]])
        await fixture.close()
    }
}
