import TestSupport
import Testing

@testable import MCPApps
@testable import MCPCore
@testable import MCPHarness

/// What views and servers may ask, save and write into the log, and no more.
@Suite(.timeLimit(.minutes(5))) struct ViewLimitTests {
    private func open(_ fixture: HostFixture, _ server: HostedServer.ID) async throws -> PlayedView {
        let view = try await fixture.view(of: fixture.host.call(server, "chart"))
        try await view.begin()
        return view
    }

    // Only what the user declines silences a view; one that asks and takes back without end is held up.
    @Test func questionsThatAreTakenBackAreLimited() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await open(fixture, server)
        for number in 0 ... Withdrawals.max {
            await view.send(10 + number, "ui/open-link", ["url": "https://example.com/"])
            let question = try await fixture.question(number)
            await view.say("notifications/cancelled", ["requestId": JSONValue(10 + number)])
            _ = try await fixture.first { event in
                if case .questionClosed(question.id) = event { true } else { nil }
            }
        }
        let refused = try await view.ask(30, "ui/open-link", ["url": "https://example.com/"])
        #expect(refused["error"]?["message"]?.stringValue?.contains("took back its questions") == true)
        #expect(asked(fixture) == Withdrawals.max + 1)
        #expect(await fixture.host.view(view.id)?.isSilenced == false)
        // Others are asked, and the user's reload begins anew.
        let other = try await open(fixture, server)
        await other.send(3, "ui/open-link", ["url": "https://example.com/"])
        #expect(try await fixture.question(Withdrawals.max + 1).view == other.id)
        await fixture.host.reloadView(view.id)
        try await view.begin(id: 31)
        await view.send(32, "ui/open-link", ["url": "https://example.com/again"])
        #expect(try await fixture.question(Withdrawals.max + 2).view == view.id)
        await fixture.close()
    }

    // Not faster than the page may change, which is every 2 s.
    @Test func questionsThatAreTakenBackSlowlyAreLimited() {
        var withdrawals = Withdrawals()
        let start = ContinuousClock.now
        let counted = (1 ... Withdrawals.max + 1).map { withdrawals.count(start + .seconds(2 * $0)) }
        #expect(counted == Array(repeating: false, count: Withdrawals.max) + [true])
        // Each attempt counts, until it has asked nothing for a while.
        #expect([23, 32, 43].map { withdrawals.refuse(start + .seconds($0)) } == [true, true, false])
    }

    // A view may report its state all the time; it is shown about once a second, and the last one always.
    @Test func contextsThatChangeAllTheTime() async throws {
        let fixture = await HostFixture()
        let view = try await open(fixture, try await fixture.add(try UIServer().server, as: "one"))
        let start = ContinuousClock.now
        for number in 1 ... 50 {
            await view.send(
                number + 10, "ui/update-model-context",
                ["content": [["type": "text", "text": .string("state \(number)")]]])
        }
        func shown() -> [String] {
            fixture.all.compactMap { event in
                guard case .conversation(let item) = event, case .context = item.author else { return nil }
                return item.text
            }
        }
        #expect(await comesTrue { shown().last == "state 50" })
        let seconds = Int((ContinuousClock.now - start).components.seconds)
        #expect(shown().first == "state 1" && shown().count <= seconds + 2)
        let kept = await fixture.host.conversation
        #expect(kept.count { if case .context = $0.author { true } else { false } } == 1)
        await fixture.close()
    }

    private func asked(_ fixture: HostFixture) -> Int {
        fixture.all.count { if case .question = $0 { true } else { false } }
    }

    // A page that is loaded again takes its questions with it: the user declined none of them.
    @Test func aPageThatIsLoadedAgainWasNotRefused() async throws {
        let fixture = await HostFixture()
        let view = try await open(fixture, try await fixture.add(try UIServer().server, as: "one"))
        for round in 0 ..< 4 {
            let first = 100 * round
            for number in 10 ..< 15 {
                await view.send(first + number, "ui/open-link", ["url": "https://example.com/"])
            }
            let question = try await fixture.question(round)
            try await view.begin(id: first + 20)
            _ = try await fixture.first { event in
                if case .questionClosed(question.id) = event { true } else { nil }
            }
        }
        // None of those that waited was shown.
        #expect(asked(fixture) == 4)
        #expect(await fixture.host.view(view.id)?.isSilenced == false)
        await view.send(900, "ui/open-link", ["url": "https://example.com/"])
        await fixture.host.answer(try await fixture.question(4).id, .allow())
        #expect(try await view.answer(to: 900)["result"] == [:])
        await fixture.close()
    }

    @Test func aRequestHasSoManyFilesAtMost() async throws {
        let fixture = await HostFixture()
        let view = try await open(fixture, try await fixture.add(try UIServer().server, as: "one"))
        func files(_ count: Int) -> JSONValue {
            [
                "contents": .array(
                    (0 ..< count).map { number in
                        [
                            "type": "resource",
                            "resource": ["uri": .string("file:///\(number).txt"), "text": "x"],
                        ]
                    })
            ]
        }
        let refused = try await view.ask(3, "ui/download-file", files(AppHost.maxDownloadFiles + 1))
        #expect(refused["error"]?["code"] == -32000 && asked(fixture) == 0)
        await view.send(4, "ui/download-file", files(AppHost.maxDownloadFiles))
        let question = try await fixture.question()
        guard case .download(let shown) = question.subject else { throw NothingThere() }
        #expect(shown.count == AppHost.maxDownloadFiles)
        await fixture.close()
    }

    /// A flood of lines does not reach a front end, which is told how many were left out.
    @Test func linesOfTheLogAreLimited() async throws {
        let count = LogMeter.maxLines * 200
        let script = "yes line | head -n \(count) >&2; exec cat > /dev/null"
        let fixture = await HostFixture()
        let begin = ContinuousClock.now
        try await fixture.host.addServer(.command("/bin/sh", ["-c", script]), name: "noisy")
        let told = try await fixture.first { event -> Int? in
            guard case .log(let line) = event, line.source == "noisy",
                let words = line.data.stringValue?.split(separator: " "), words.contains("left")
            else { return nil }
            return Int(words[0])
        }
        let lines = fixture.all.count { event in
            guard case .log(let line) = event else { return false }
            return line.data == "line"
        }
        let seconds = Int(begin.duration(to: .now) / .seconds(1)) + 1
        #expect(told > 0 && lines >= LogMeter.maxLines && lines <= seconds * LogMeter.maxLines)
        await fixture.close()
    }

    // The views of a server count with it.
    @Test func linesOfViewsAreLimited() async throws {
        let fixture = await HostFixture()
        let view = try await open(fixture, try await fixture.add(try UIServer().server, as: "one"))
        let line: JSONValue = [
            "jsonrpc": "2.0", "method": "notifications/message",
            "params": ["level": "error", "data": "x"],
        ]
        await fixture.host.receive(Array(repeating: line, count: LogMeter.maxLines + 50), from: view.id)
        _ = try await fixture.first { event -> Bool? in
            guard case .log(let line) = event else { return nil }
            return line.data.stringValue?.contains("left out") == true ? true : nil
        }
        await fixture.close()
    }

    /// What the user declines does not use up what the model answers in a minute.
    @Test func whatIsDeclinedIsNotCounted() async throws {
        let fixture = await HostFixture(HostFixture.options(model: ScriptedModel(.text("42"))))
        let server = try await fixture.add(try UIServer().server, as: "one")
        let (loud, quiet) = (try await open(fixture, server), try await open(fixture, server))
        let params: JSONValue = [
            "messages": [["role": "user", "content": ["type": "text", "text": "6 times 7?"]]],
            "maxTokens": 10,
        ]
        // The first ones are declined; then it is refused without asking.
        for number in 0 ..< AppHost.maxSamples + 5 {
            await loud.send(10 + number, "sampling/createMessage", params)
            if number < AppHost.maxRefusals {
                await fixture.host.answer(try await fixture.question(number).id, .deny)
            }
            #expect(try await loud.answer(to: 10 + number)["error"]?["code"] == -32000)
        }
        for number in 0 ... AppHost.maxSamples {
            await quiet.send(10 + number, "sampling/createMessage", params)
            if number < AppHost.maxSamples {
                await fixture.host.answer(
                    try await fixture.question(AppHost.maxRefusals + number).id, .allow())
            }
            let answer = try await quiet.answer(to: 10 + number)
            #expect((answer["result"] != nil) == (number < AppHost.maxSamples))
        }
        await fixture.close()
    }
}
