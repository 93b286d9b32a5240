import Synchronization
import TestSupport
import Testing

@testable import MCPApps
@testable import MCPClientCLI
@testable import MCPCore

/// What the terminal and the history of `host` hear, however fast it comes.
@Suite(.timeLimit(.minutes(5))) struct HostFollowerTests {
    /// What was passed on.
    private final class Heard: Sendable {
        private let state = Mutex<(lines: [String], entries: [String])>(([], []))
        let begun = Gate()
        let goesOn = Gate()

        func take(_ event: HostEvent) async {
            switch event {
            case .log(let line): state.withLock { $0.lines.append(line.data.stringValue ?? "") }
            case .history(let entry): state.withLock { $0.entries.append(entry.tool) }
            default: return
            }
            begun.open()
            await goesOn.wait()
        }

        var lines: [String] { state.withLock { $0.lines } }
        var entries: [String] { state.withLock { $0.entries } }
    }

    private static func server(_ tools: String...) -> MCPServer {
        let server = MCPServer("s", version: "1")
        for tool in tools { server.addTool(tool, "") { () in "done" } }
        return server
    }

    private static func until(_ condition: () async -> Bool) async {
        let end = ContinuousClock.now + .seconds(20)
        while await !condition(), ContinuousClock.now < end { await pause() }
        #expect(await condition())
    }

    private static func call(_ host: AppHost, _ server: HostedServer.ID, _ tool: String) async throws {
        await Self.until { await host.tools(of: server).count == 2 }
        let before = await host.history().count
        try await host.call(server, tool)
        await Self.until { await host.history().count > before }
    }

    /// More events than wait for one reader do not end it: every call is in the history, once.
    @Test func aFloodDoesNotEndIt() async throws {
        let host = AppHost()
        let heard = Heard()
        let server = try await host.addServer(.inProcess(Self.server("one", "two")), name: "s")
        try await Self.call(host, server, "one")
        let run = Task {
            var follower = HostFollower(host, known: [])
            await follower.run { await heard.take($0) }
        }
        #expect(await heard.begun.wait())
        for _ in 0 ... AppHost.maxWaitingEvents + 1 { await host.log("s", .error, "flood") }
        #expect(await host.listeners.isEmpty)
        try await Self.call(host, server, "two")
        heard.goesOn.open()
        await waitUntil { heard.entries.count == 2 }
        await Self.until { await !host.listeners.isEmpty }
        await host.log("s", .error, "later")
        await waitUntil { heard.lines.last == "later" }
        #expect(heard.entries == ["one", "two"])
        #expect(heard.lines.contains("lines of the log were left out"))
        await host.close()
        await run.value
    }

    /// What is written already is not written again.
    @Test func knownEntriesStayAsTheyAre() async throws {
        let json: JSONValue = ["id": "a", "tool": "old", "server": "s"]
        let entry = try #require(HistoryEntry(json: json))
        var options = AppHostOptions()
        options.history = [entry]
        let host = AppHost(options)
        let heard = Heard()
        heard.goesOn.open()
        let run = Task {
            var follower = HostFollower(host, known: [entry])
            await follower.run { await heard.take($0) }
        }
        await Self.until { await !host.listeners.isEmpty }
        await host.log("s", .error, "last")
        await waitUntil { heard.lines == ["last"] }
        #expect(heard.entries == [])
        run.cancel()
        await run.value
        await host.close()
    }

    // What nobody sees of a conversation, a model reads all the same.
    @Test func hiddenCharactersOfAConversationAreNamed() {
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        let item = ConversationItem(
            id: "m1", author: .context("s"),
            content: [
                .text("a\u{202E}b\nc"), .resourceLink(Resource("https://x/\u{200B}", name: "n\u{2066}")),
            ])
        let json = writer.json(.conversation(item))
        #expect(json?["content"]?[0]?["text"] == "a⟨U+202E⟩b\nc")
        #expect(json?["content"]?[1]?["label"] == "n⟨U+2066⟩")
        let said = ConversationItem(id: "m2", author: .model, content: [.text("a\u{200B}")])
        #expect(writer.json(.conversation(said))?["content"]?[0]?["text"] == "a⟨U+200B⟩")
        let rest = writer.json(.conversationDelta(id: "m2", "\u{200D}x\u{200B}"))
        #expect(rest?["text"] == "⟨U+200D⟩x⟨U+200B⟩")
    }

    /// An emoji of several characters, and joined letters, stay whole in whatever pieces they come.
    @Test func piecesOfATextAreLookedAtTogether() {
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        let emoji = ["❤", "\u{FE0F} ", "👨", "\u{200D}", "👩", " 1", "\u{FE0F}\u{20E3}"]
        let pieces = emoji + [" می", "\u{200C}", "خواهم"]
        var shown = ""
        for (number, piece) in pieces.enumerated() {
            let event: HostEvent =
                number == 0
                ? .conversation(ConversationItem(id: "m1", author: .model, content: [.text(piece)]))
                : .conversationDelta(id: "m1", piece)
            let json = writer.json(event)
            shown += (json?["text"] ?? json?["content"]?[0]?["text"])?.stringValue ?? "?"
        }
        #expect(shown.utf8.elementsEqual(pieces.joined().utf8), "\(shown)")
    }

    /// Long arguments of a call in the history are not put into a form, and not sent to the page for that.
    @Test func longArgumentsAreNotUsedAgain() throws {
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        let room = (256 << 10) - #"{"a":""}"#.utf8.count
        let cases: [(JSONValue, Bool)] = [
            (["a": .string(String(repeating: "x", count: room))], true),
            (["a": .string(String(repeating: "x", count: room + 1))], false),
            ("70000 bytes, too large for the history", false),
        ]
        for (arguments, canUse) in cases {
            let entry = try #require(
                HistoryEntry(json: ["id": "h1", "server": "s", "tool": "t", "arguments": arguments]))
            let event = writer.json(.history(entry))
            let json = try #require(event)
            #expect(json["canUse"] == .bool(canUse))
            #expect(json["arguments"] == (canUse ? arguments : .null))
            #expect(json["text"]?.stringValue?.utf8.count ?? .max < 17 << 10)
        }
    }

    /// Of a long answer the page shows the beginning, also while it is written, and its size at the end.
    @Test func ofALongAnswerTheBeginningIsShown() {
        for (excess, isCut) in [(0, false), (1, true)] {
            var writer = HostEventWriter(ports: SandboxPorts(port: 1))
            var item = ConversationItem(id: "m1", author: .model, content: [.text("b")])
            #expect(writer.json(.conversation(item)) != nil)
            let rest = String(repeating: "x", count: ContentJSON.maxText - 1 + excess)
            let shown = writer.json(.conversationDelta(id: "m1", rest))?["text"]?.stringValue ?? ""
            #expect(shown.utf8.count - (isCut ? 3 : 0) == ContentJSON.maxText - 1)
            #expect(shown.hasSuffix("…") == isCut)
            if !isCut { #expect(writer.json(.conversationDelta(id: "m1", "y"))?["text"] == "…") }
            #expect(writer.json(.conversationDelta(id: "m1", "z")) == nil)
            item.content = [.text("b\(rest)yz")]
            // A page that was loaded in the meantime has the beginning, and no later piece behind it.
            var later = HostEventWriter(ports: SandboxPorts(port: 1))
            for end in [later.json(.conversation(item)), writer.json(.conversation(item))] {
                let text = end?["content"]?[0]?["text"]?.stringValue
                #expect(text?.hasSuffix("x… (\(rest.utf8.count + 3) bytes)") == true)
            }
            #expect(later.json(.conversationDelta(id: "m1", "w")) == nil)
            item.content = [.text("b\(rest)yzw")]
            let text = later.json(.conversation(item))?["content"]?[0]?["text"]?.stringValue
            #expect(text?.hasSuffix("x… (\(rest.utf8.count + 4) bytes)") == true)
        }
        // A text that was passed on as a whole is not sent again.
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        let item = ConversationItem(id: "m1", author: .model, content: [.text("ab")])
        #expect(writer.json(.conversation(item)) != nil)
        #expect(writer.json(.conversationDelta(id: "m1", "c"))?["text"] == "c")
        #expect(writer.json(.conversation(item)) == nil)
    }
}
