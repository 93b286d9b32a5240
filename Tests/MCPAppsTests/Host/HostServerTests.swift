import MCPApps
import MCPCore
import MCPHarness
import TestSupport
import Testing

/// The servers of a host: found, lost, found again.
@Suite(.timeLimit(.minutes(5))) struct HostServerTests {
    private func tools(_ fixture: HostFixture, _ server: HostedServer.ID, _ fits: ([String]) -> Bool)
        async throws
    {
        _ = try await fixture.first { event in
            if case .tools(server, let tools) = event, fits(tools.map(\.name)) { true } else { nil }
        }
    }

    // A03
    @Test(arguments: [ProtocolVersion.v2026_07_28, .v2025_11_25])
    func theListIsReadAgainWhenItChanges(_ version: ProtocolVersion) async throws {
        var options = HostFixture.options()
        options.client.protocol = .exactly(version)
        let fixture = await HostFixture(options)
        var pages = ServerOptions()
        pages.limits.pageSize = 2
        let server = MCPServer("pages", version: "1", options: pages)
        for number in 1 ... 5 { try server.register(Tool("t\(number)")) { _, _ in .text("") } }
        let running = try server.start([.http(.tcp(port: 0))])
        let port = try running.port()
        let id = try await fixture.host.addServer(.http("http://127.0.0.1:\(port)/mcp"), name: "pages")
        try await tools(fixture, id) { $0 == ["t1", "t2", "t3", "t4", "t5"] }
        let told = try await fixture.first { event in
            if case .server(let server) = event, server.state == .connected { server } else { nil }
        }
        #expect(told.toolCount == 5 && told.version == version && told.info?.name == "pages")
        // The host may not listen for changes yet.
        try server.register(Tool("t6")) { _, _ in .text("") }
        try await tools(fixture, id) { $0.last == "t6" }
        await fixture.close()
        await running.stop()
    }

    // A28 A24
    @Test func aServerThatComesBackIsUsedAgain() async throws {
        let fixture = await HostFixture()
        let ui = try UIServer()
        let port = try freePort()
        var running = try ui.server.start([.http(.tcp(port: port))])
        let id = try await fixture.host.addServer(.http("http://127.0.0.1:\(port)/mcp"), name: "one")
        try await tools(fixture, id) { !$0.isEmpty }
        let view = try await fixture.view(of: fixture.host.call(id, "chart"))
        try await view.begin()
        await running.stop()
        let failed = try await fixture.call(fixture.host.call(id, "plain"))
        #expect(failed.state == .failed && failed.problem?.isEmpty == false)
        _ = try await fixture.first { event in
            if case .server(let server) = event, case .lost = server.state { true } else { nil }
        }
        let again = try UIServer()
        running = try again.server.start([.http(.tcp(port: port))])
        #expect(await isCalled(fixture, id))
        // The view of before is still there, is told that the lists may be others, and its calls arrive.
        for list in ["tools", "resources"] {
            #expect(await comesTrue { view.methods.contains("notifications/\(list)/list_changed") })
        }
        #expect(try await view.ask(5, "tools/call", ["name": "tick"])["result"] != nil)
        await fixture.close()
        await running.stop()
    }

    /// Nobody calls: the end of the subscription is the first sign.
    @Test func aServerThatGoesIsNoticedWithoutACall() async throws {
        let fixture = await HostFixture()
        let port = try freePort()
        var running = try UIServer().server.start([.http(.tcp(port: port))])
        let id = try await fixture.host.addServer(.http("http://127.0.0.1:\(port)/mcp"), name: "one")
        func count(_ isWanted: (HostedServer.State) -> Bool) -> Int {
            fixture.all.count { if case .server(let s) = $0, s.id == id { isWanted(s.state) } else { false } }
        }
        func losses() -> Int { count { if case .lost = $0 { true } else { false } } }
        #expect(await comesTrue { count { $0 == .connected } > 0 })
        await running.stop()
        #expect(await comesTrue { losses() >= 3 })
        // Once: the further attempts say nothing that is new.
        let reasons = fixture.all.compactMap { event in
            if case .log(let line) = event, line.level == .warning { line.data.stringValue } else { nil }
        }
        #expect(Set(reasons).count == reasons.count && !reasons.isEmpty)
        let before = count { $0 == .connected }
        running = try UIServer().server.start([.http(.tcp(port: port))])
        #expect(await comesTrue { count { $0 == .connected } > before })
        await fixture.close()
        await running.stop()
    }

    /// Each attempt succeeds, and the server ends at once: that is no reason to begin with short pauses again.
    @Test func aServerThatComesAndGoesIsTriedMoreAndMoreSeldom() async throws {
        var options = HostFixture.options()
        options.reconnectPause = .milliseconds(100)
        options.client.protocol = .exactly(.v2025_11_25)
        let fixture = await HostFixture(options)
        let program = ClientTarget.command(
            "sh", "-c",
            """
            while read -r line; do
                id=${line#*\\"id\\":}; id=${id%%,*}
                case "$line" in
                *initialized*) ;;
                *initialize*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"flap","version":"1"}}}\\n' "$id";;
                *tools/list*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}\\n' "$id"; exit 0;;
                esac
            done
            """)
        func count(_ isWanted: (HostedServer.State) -> Bool) -> Int {
            fixture.all.count { if case .server(let server) = $0 { isWanted(server.state) } else { false } }
        }
        let start = ContinuousClock.now
        try await fixture.host.addServer(program, name: "flap")
        #expect(await comesTrue { count { if case .lost = $0 { true } else { false } } >= 5 })
        #expect(count { $0 == .connected } >= 4)
        // 100 + 200 + 400 + 800 ms
        #expect(start.duration(to: .now) >= .milliseconds(1_500))
        let reasons = fixture.all.compactMap { event in
            if case .log(let line) = event, line.level == .warning { line.data.stringValue } else { nil }
        }
        #expect(Set(reasons).count == reasons.count && !reasons.isEmpty)
        await fixture.close()
    }

    /// A server of the handshake asks on its own: what it asked for a call goes with the call.
    @Test(arguments: ["answers", "ends", "cancelled", "removed"])
    func aFormThatNobodyWaitsForIsClosed(_ end: String) async throws {
        let form =
            #"{"mode":"form","message":"Your name?","requestedSchema":{"type":"object","properties":{}}}"#
        var options = HostFixture.options()
        options.client.protocol = .exactly(.v2025_11_25)
        options.reconnectPause = .seconds(30)
        let fixture = await HostFixture(options)
        let directory = TemporaryDirectory()
        let program = Self.legacy(
            """
            *tools/call*)
                printf '{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":%s}\\n' '\(form)'
                while [ ! -e "$0/go" ]; do sleep 0.02; done
                [ \(end) = ends ] && exit 0
                [ \(end) = answers ] && printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\\n' "$id";;
            """, directory.path)
        let server = try await fixture.host.addServer(program, name: "asks")
        try await tools(fixture, server) { $0 == ["ask"] }
        let call = try await fixture.host.call(server, "ask")
        let question = try await fixture.question()
        guard case .elicitation(let request) = question.subject else { throw NothingThere() }
        #expect(request.message == "Your name?")
        switch end {
        case "cancelled": await fixture.host.cancel(call)
        case "removed": await fixture.host.removeServer(server)
        default: try directory.write("go", "")
        }
        _ = try await fixture.first { event in
            if case .questionClosed(question.id) = event { true } else { nil }
        }
        #expect(await !fixture.host.answer(question.id, .accept([:])))
        try? directory.write("go", "")
        await fixture.close()
    }

    /// Only a browser's own addresses are visited.
    @Test func aServerSendsNobodyToAFile() async throws {
        let params = #"{"mode":"url","elicitationId":"x","message":"Visit","url":"file:///etc/passwd"}"#
        var options = HostFixture.options()
        options.client.protocol = .exactly(.v2025_11_25)
        let fixture = await HostFixture(options)
        let program = Self.legacy(
            """
            *tools/call*)
                call=$id
                printf '{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":%s}\\n' '\(params)';;
            *decline*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\\n' "$call";;
            """)
        let server = try await fixture.host.addServer(program, name: "asks")
        try await tools(fixture, server) { $0 == ["ask"] }
        #expect(try await fixture.call(fixture.host.call(server, "ask")).state == .completed)
        #expect(!fixture.all.contains { if case .question = $0 { true } else { false } })
        await fixture.close()
    }

    /// A program with one tool that speaks 2025-11-25; `cases` are those of a shell for further lines.
    private static func legacy(_ cases: String, _ argument: String = "") -> ClientTarget {
        .command(
            "sh", "-c",
            """
            while read -r line; do
                id=${line#*\\"id\\":}; id=${id%%,*}
                case "$line" in
                *notifications/*) ;;
                *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"legacy","version":"1"}}}\\n' "$id";;
                *tools/list*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}}\\n' "$id";;
                \(cases)
                esac
            done
            """, argument)
    }

    /// The next call works; the connection may need another attempt.
    private func isCalled(_ fixture: HostFixture, _ id: HostedServer.ID) async -> Bool {
        for _ in 1 ... 50 {
            if let call = try? await fixture.call(fixture.host.call(id, "plain")), call.state == .completed {
                return true
            }
        }
        return false
    }

    @Test func aServerThatIsNotThereIsTriedAgain() async throws {
        let fixture = await HostFixture()
        let id = try await fixture.host.addServer(.http("http://127.0.0.1:1/mcp"), name: "none")
        func losses() -> Int {
            fixture.all.count { if case .server(let s) = $0, case .lost = s.state { true } else { false } }
        }
        #expect(await comesTrue { losses() >= 3 })
        try await fixture.host.reconnect(id)
        await fixture.host.removeServer(id)
        _ = try await fixture.first { event in
            if case .serverRemoved(id) = event { true } else { nil }
        }
        await #expect(throws: AppHostError.unknownServer(id)) { try await fixture.host.reconnect(id) }
        await fixture.close()
    }

    @Test func aServerThatIsRemovedTakesItsViewsAlong() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await fixture.view(of: fixture.host.call(server, "chart"))
        try await view.begin()
        await fixture.host.removeServer(server)
        _ = try await fixture.first { event in
            if case .viewClosed(view.id) = event { true } else { nil }
        }
        await #expect(throws: AppHostError.unknownServer(server)) {
            try await fixture.host.call(server, "chart")
        }
        await fixture.close()
    }

    @Test(arguments: [ProtocolVersion.v2026_07_28, .v2025_11_25])
    func questionsOfAServerAreTheUsers(_ version: ProtocolVersion) async throws {
        var options = HostFixture.options()
        options.client.protocol = .exactly(version)
        let fixture = await HostFixture(options)
        let server = MCPServer("asks", version: "1")
        try server.register(Tool("book", inputSchema: ["type": "object"])) { _, context in
            let answer = try await context.elicit("How many?", ElicitationSchema([.integer("guests")]))
            return .text("\(answer.action.rawValue) \(answer.content?["guests"]?.intValue ?? 0)")
        }
        let id = try await fixture.add(server, as: "asks")
        let call = try await fixture.host.call(id, "book")
        let question = try await fixture.question()
        guard case .elicitation(let request) = question.subject else { throw NothingThere() }
        #expect(request.message == "How many?" && question.server == "asks")
        // What does not fit can be known before the server is told.
        let wrong = await fixture.host.validate(question.id, ["guests": "four"])
        #expect(wrong.map(\.instancePath) == ["/guests"])
        #expect(await fixture.host.validate(question.id, ["guests": 4]).isEmpty)
        await fixture.host.answer(question.id, .accept(["guests": 4]))
        #expect(try await fixture.call(call).result?.text == "accept 4")
        let second = try await fixture.host.call(id, "book")
        await fixture.host.answer(try await fixture.question(1).id, .deny)
        #expect(try await fixture.call(second).result?.text == "decline 0")
        await fixture.close()
    }

    /// A server may ask without end, in one call or in none: the user is not kept from everything else.
    @Test func aServerThatIsRefusedAgainAndAgainIsNotAskedFor() async throws {
        var options = HostFixture.options()
        options.client.protocol = .exactly(.v2025_11_25)
        let fixture = await HostFixture(options)
        let server = MCPServer("asks", version: "1")
        try server.register(Tool("book", inputSchema: ["type": "object"])) { _, context in
            var answers: [String] = []
            for _ in 0 ..< 6 {
                let answer = try await context.elicit("How many?", ElicitationSchema([.integer("guests")]))
                answers.append(answer.action.rawValue)
            }
            return .text(answers.joined(separator: " "))
        }
        let id = try await fixture.add(server, as: "asks")
        func asked() -> Int { fixture.all.count { if case .question = $0 { true } else { false } } }
        let call = try await fixture.host.call(id, "book")
        let answers: [QuestionAnswer] = [.deny, .accept(["guests": 4]), .deny, .cancel, .deny]
        for (number, answer) in answers.enumerated() {
            await fixture.host.answer(try await fixture.question(number).id, answer)
        }
        #expect(
            try await fixture.call(call).result?.text == "decline accept decline cancel decline decline")
        #expect(asked() == 5)
        #expect(await fixture.host.hostedServers.first?.isSilenced == true)
        // The user turns to it.
        let second = try await fixture.host.call(id, "book")
        let third = try await fixture.question(5)
        #expect(await fixture.host.hostedServers.first?.isSilenced == false)
        await fixture.host.cancel(second)
        _ = try await fixture.first { event in
            if case .questionClosed(third.id) = event { true } else { nil }
        }
        await fixture.close()
    }
    /// A server may also ask and take back without end, which would move what the user wants to answer.
    @Test func aServerThatTakesItsQuestionsBackAgainAndAgainIsNotAskedFor() async throws {
        var options = HostFixture.options()
        options.client.protocol = .exactly(.v2025_11_25)
        let fixture = await HostFixture(options)
        let server = MCPServer("asks", version: "1")
        let limit = 6, (asked, note) = AsyncStream<Void>.makeStream()
        try server.register(Tool("book", inputSchema: ["type": "object"])) { _, context in
            for await _ in asked.prefix(limit + 1) {
                let question = Task {
                    try await context.elicit("How many?", ElicitationSchema([.integer("guests")]))
                }
                for await _ in asked.prefix(1) { question.cancel() }
                _ = await question.result
            }
            let last = try await context.elicit("How many?", ElicitationSchema([.integer("guests")]))
            return .text(last.action.rawValue)
        }
        let id = try await fixture.add(server, as: "asks")
        let call = try await fixture.host.call(id, "book")
        for number in 0 ... limit {
            note.yield()
            let question = try await fixture.question(number)
            note.yield()
            _ = try await fixture.first { event in
                if case .questionClosed(question.id) = event { true } else { nil }
            }
        }
        #expect(try await fixture.call(call).result?.text == "cancel")
        #expect(fixture.all.count { if case .question = $0 { true } else { false } } == limit + 1)
        // The user turns to it.
        let second = try await fixture.host.call(id, "book")
        note.yield()
        let last = try await fixture.question(limit + 1)
        await fixture.host.cancel(second)
        _ = try await fixture.first { event in
            if case .questionClosed(last.id) = event { true } else { nil }
        }
        note.finish()
        await fixture.close()
    }
}
