import Synchronization
import TestSupport
import Testing

@testable import MCPApps
@testable import MCPCore
@testable import MCPHarness

extension LimitProofs {
    static let views: [LimitProof] = [
        LimitProof(
            "conversation that is kept",
            "\(AppHost.maxConversation) pieces, \(LimitText.bytes(AppHost.maxConversationBytes))"
        ) { try await HostViewTests().whatAViewLeavesBehindIsBounded() },
        LimitProof(
            "log that is kept", "\(AppHost.maxLines) lines, \(LimitText.bytes(AppHost.maxLineBytes))", log),
        LimitProof(
            "results, and arguments of views, that are kept",
            "\(AppHost.maxCalls) calls, \(LimitText.bytes(AppHost.maxResultBytes))", calls),
        LimitProof(
            "history",
            "\(LimitText.grouped(AppHost.maxHistory)) calls, of which \(AppHost.maxViewHistory) by views; "
                + "\(LimitText.bytes(HistoryEntry.maxPartBytes)) for a result, "
                + "or for arguments of a view or a model", history),
        LimitProof("questions of a view in a row that the user declined", "\(AppHost.maxRefusals)") {
            try await HostViewTests().aViewThatIsRefusedAgainAndAgainIsNotAskedFor()
        },
        LimitProof("questions of a server in a row that the user declined", "\(AppHost.maxRefusals)") {
            try await HostServerTests().aServerThatIsRefusedAgainAndAgainIsNotAskedFor()
        },
        LimitProof("questions that a view takes back in a minute", "\(Withdrawals.max)") {
            #expect(AppHost.quietTime == .seconds(10))
            #expect(Withdrawals.period == .seconds(60))
            try await ViewLimitTests().questionsThatAreTakenBackAreLimited()
        },
        LimitProof("questions that a server takes back in a minute", "\(Withdrawals.max)") {
            try await HostServerTests().aServerThatTakesItsQuestionsBackAgainAndAgainIsNotAskedFor()
        },
        LimitProof(
            "contexts of a view that are shown", "1 each \(LimitText.seconds(AppHost.contextPause))"
        ) { try await ViewLimitTests().contextsThatChangeAllTheTime() },
        LimitProof("files of one request to save", "\(AppHost.maxDownloadFiles)") {
            try await ViewLimitTests().aRequestHasSoManyFilesAtMost()
        },
        LimitProof(
            "context of a view that a model is told", LimitText.bytes(ViewContext.maxBytes), modelContext),
        LimitProof(
            "lines that a server and its views add to the log in a second", "\(LogMeter.maxLines)", logLines),
        LimitProof(
            "requests for another mode by a view that the user put back",
            "none for \(LimitText.seconds(AppHost.quietTime))"
        ) { try await ViewStateTests().aViewThatWasPutBackStaysThere() },
        LimitProof(
            "changes of the mode by a view in 10 s", "\(AppHost.maxModeChanges)"
        ) { try await ViewStateTests().aViewThatFlickersIsPutBack() },
        LimitProof(
            "`_meta` of a view's call that its server receives", LimitText.bytes(AppHost.maxForwardedMeta),
            forwardedMeta),
        LimitProof(
            "texts of a tool that a view offers", LimitText.bytes(AppToolSource.maxTextBytes), offeredTexts),
        LimitProof(
            "a schema of a tool that a view offers", LimitText.bytes(AppToolSource.maxSchemaBytes),
            offeredSchemas),
        LimitProof(
            "failures of a view's document that are told", "\(ViewRecord.maxFailures)", failures),
        LimitProof("addresses whose document is pinned", LimitText.grouped(DocumentPins.maxPins), pins),
        LimitProof(
            "events of a host that wait for one reader", LimitText.grouped(AppHost.maxWaitingEvents), events),
        LimitProof(
            "events that wait for the handlers of an `AppBridge`", LimitText.grouped(AppBridge.maxEvents),
            handledEvents),
        LimitProof(
            "messages that wait at an end of an `InMemoryAppTransport`, or of a web view for its host",
            LimitText.grouped(InMemoryAppTransport.capacity), messages),
    ]

    @Sendable private static func handledEvents() async throws {
        for count in [AppBridge.maxEvents, AppBridge.maxEvents + 1] {
            let (begun, go, last) = (OneTimeEvent(), OneTimeEvent(), OneTimeEvent())
            let handled = Mutex(0)
            var handlers = AppBridgeHandlers()
            handlers.onInitialized = {
                begun.happen()
                await go.wait()
            }
            handlers.onLoggingMessage = { _ in handled.withLock { $0 += 1 } }
            handlers.onRequestTeardown = { last.happen() }
            var limits = AppBridgeLimits()
            limits.maxMessagesPerSecond = .max / 2
            let (host, view) = InMemoryAppTransport.makePair()
            let bridge = AppBridge(
                host, hostInfo: Implementation(name: "h", version: "1"), capabilities: HostCapabilities(),
                limits: limits, handlers: handlers)
            await bridge.start()
            var heard = view.incoming.makeAsyncIterator()
            view.send(["jsonrpc": "2.0", "id": "init", "method": "ui/initialize", "params": introduction])
            _ = await heard.next()
            view.send(["jsonrpc": "2.0", "method": "ui/notifications/initialized"])
            await begun.wait()
            for number in 1 ... count {
                view.send(["jsonrpc": "2.0", "method": "notifications/message", "params": ["level": "info"]])
                guard number % 256 == 0 || number == count else { continue }
                // Once this is answered, what was sent before it has come.
                view.send(["jsonrpc": "2.0", "id": "ping", "method": "ping"])
                while let answer = await heard.next(), answer["id"] != "ping" {}
            }
            go.happen()
            await waitUntil { handled.withLock { $0 } == AppBridge.maxEvents }
            view.send(["jsonrpc": "2.0", "method": "ui/notifications/request-teardown"])
            await last.wait()
            #expect(handled.withLock { $0 } == AppBridge.maxEvents)
            view.close()
        }
    }

    private static let introduction: JSONValue = [
        "protocolVersion": "2026-01-26", "appInfo": ["name": "v", "version": "1"], "appCapabilities": [:],
    ]

    @Sendable private static func messages() async throws {
        for count in [InMemoryAppTransport.capacity, InMemoryAppTransport.capacity + 1] {
            let (host, view) = InMemoryAppTransport.makePair()
            for number in 1 ... count { view.send(.number(JSONNumber(number))) }
            view.close()
            var last: JSONValue?
            var heard = 0
            for await message in host.incoming { (last, heard) = (message, heard + 1) }
            #expect(heard == InMemoryAppTransport.capacity)
            #expect(last == .number(JSONNumber(InMemoryAppTransport.capacity)))
        }
    }

    @Sendable private static func events() async throws {
        for (count, isCut) in [(AppHost.maxWaitingEvents, false), (AppHost.maxWaitingEvents + 1, true)] {
            let host = AppHost()
            let events = await host.events()
            for _ in 0 ..< count { await host.log("s", .info, "x") }
            #expect(await host.listeners.isEmpty == isCut)
            // Whoever begins anew hears what comes.
            let later = await host.eventsWithSnapshot().events
            await host.log("s", .info, "later")
            // Ends the streams that are not over.
            await host.close()
            var (heard, last) = (0, 0)
            for await _ in events { heard += 1 }
            for await _ in later { last += 1 }
            #expect(heard == AppHost.maxWaitingEvents && last == 1)
        }
    }

    @Sendable private static func log() async throws {
        let host = AppHost()
        func kept() async -> [String?] {
            await host.snapshot().compactMap { event -> String? in
                if case .log(let line) = event { line.data.stringValue } else { nil }
            }
        }
        let numbers = (0 ... AppHost.maxLines).map(String.init)
        for number in numbers { await host.log("s", .info, number) }
        #expect(await kept() == Array(numbers.dropFirst()))
        let long = ["a", "b", "c"].map { String(repeating: $0, count: AppHost.maxLineBytes / 2) }
        for text in long { await host.log("s", .info, text) }
        #expect(await kept() == Array(long.dropFirst()))
        await host.close()
    }

    @Sendable private static func calls() async throws {
        let fixture = await HostFixture()
        let server = MCPServer("s", version: "1")
        server.addTool("t", "") { "done" }
        let id = try await fixture.add(server, as: "one")
        var ids: [HostedCall.ID] = []
        for count in 1 ... AppHost.maxCalls + 1 {
            let call = try await fixture.host.call(id, "t")
            _ = try await fixture.call(call)
            ids.append(call)
            guard count >= AppHost.maxCalls else { continue }
            let kept = await fixture.host.snapshot().compactMap {
                if case .call(let call) = $0 { call.id } else { nil }
            }
            #expect(kept == Array(ids.suffix(AppHost.maxCalls)))
        }
        await fixture.close()
    }

    @Sendable private static func history() async throws {
        func entries(_ count: Int, by: String) throws -> [HistoryEntry] {
            try (0 ..< count).map {
                try #require(
                    HistoryEntry(
                        json: ["id": .string("\(by)\($0)"), "server": "s", "tool": "t", "by": .string(by)]))
            }
        }
        for (count, most, by) in [
            (AppHost.maxHistory, AppHost.maxHistory, "user"),
            (AppHost.maxHistory + 1, AppHost.maxHistory, "user"),
            (AppHost.maxViewHistory, AppHost.maxViewHistory, "view"),
            (AppHost.maxViewHistory + 1, AppHost.maxViewHistory, "view"),
        ] {
            let kept = AppHost.bounded(try entries(count, by: by))
            #expect(kept.count == most && kept.last?.id == "\(by)\(count - 1)")
        }
        // Longer parts are left out.
        try await HostViewTests().whatAViewLeavesBehindIsBounded()
    }

    @Sendable private static func modelContext() async throws {
        for (count, isCut) in [(ViewContext.maxBytes, false), (ViewContext.maxBytes + 1, true)] {
            var context = ViewContext(sources: [("s", "S")])
            _ = context.add(
                of: ("s", "S"), tool: "t", String(repeating: "x", count: count), nil)
            let longest = context.text.utf8.split { $0 != UInt8(ascii: "x") }.map(\.count).max()
            #expect(longest == ViewContext.maxBytes)
            #expect(context.text.hasSuffix("(The rest of \(count) bytes is cut off.)") == isCut)
        }
    }

    @Sendable private static func logLines() async throws {
        let meter = LogMeter()
        let begin = ContinuousClock.now
        var told = 0
        for number in 1 ... LogMeter.maxLines + 5 {
            let isAdmitted = meter.admits(at: begin) { told += 1 }
            #expect(isAdmitted == (number <= LogMeter.maxLines))
        }
        #expect(told == 1 && meter.takeLeftOut() == 5)
        let isAdmittedLater = meter.admits(at: begin + LogMeter.window) { told += 1 }
        #expect(isAdmittedLater && told == 1)
        try await ViewLimitTests().linesOfTheLogAreLimited()
    }

    @Sendable private static func forwardedMeta() async throws {
        let text = String(repeating: "x", count: AppHost.maxForwardedMeta - 8)
        #expect(AppHost.forwarded(["a": .string(text), "progressToken": 1]) == ["a": .string(text)])
        #expect(AppHost.forwarded(["a": .string(text + "x")]) == [:])
    }

    @Sendable private static func offeredTexts() async throws {
        for excess in [0, 1] {
            let text = String(repeating: "x", count: AppToolSource.maxTextBytes + excess)
            let page: JSONValue = [
                "tools": [
                    [
                        "name": "t", "title": .string(text), "description": .string(text),
                        "inputSchema": ["type": "object"],
                    ]
                ]
            ]
            let tools = try await AppToolSource.allTools { _ in page }
            let tool = try #require(tools.first)
            #expect(tool.title?.utf8.count == AppToolSource.maxTextBytes)
            #expect(tool.description?.utf8.count == AppToolSource.maxTextBytes)
        }
    }

    @Sendable private static func offeredSchemas() async throws {
        let rest = #"{"type":"object","title":""}"#.utf8.count
        for excess in [0, 1] {
            let text = String(repeating: "x", count: AppToolSource.maxSchemaBytes - rest + excess)
            let page: JSONValue = [
                "tools": [["name": "t", "inputSchema": ["type": "object", "title": .string(text)]]]
            ]
            let tools = try await AppToolSource.allTools { _ in page }
            #expect(tools.count == 1 - excess)
        }
    }

    @Sendable private static func failures() async throws {
        let fixture = await HostFixture()
        let server = try await fixture.add(try UIServer().server, as: "one")
        let view = try await fixture.view(of: try await fixture.host.call(server, "chart"))
        for number in 0 ..< ViewRecord.maxFailures + 10 {
            await view.say("ui/notifications/sandbox-error", ["text": "x\(number)."])
        }
        _ = try await view.ask(9, "ping")
        let told = fixture.all.count { event in
            if case .log(let line) = event {
                line.data.stringValue?.hasPrefix("it reports an error: “x") == true
            } else {
                false
            }
        }
        #expect(told == ViewRecord.maxFailures)
        await fixture.close()
    }

    @Sendable private static func pins() async throws {
        for (count, isForgotten) in [(DocumentPins.maxPins, false), (DocumentPins.maxPins + 1, true)] {
            var pins = DocumentPins()
            for number in 0 ..< count { pins.pin("ui://\(number)", of: "s", "old") }
            let newest = pins.pin("ui://\(count - 1)", of: "s", "new")
            // What is forgotten cannot have changed.
            let oldest = pins.pin("ui://0", of: "s", "new")
            #expect(newest && oldest != isForgotten)
        }
    }
}
