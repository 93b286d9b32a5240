import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Programs that offer tools and do whatever the protocol does not foresee, over each way in.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HostileProviderTests {
    typealias Daemon = ClientToolEndpointTests.Daemon
    typealias Page = ProviderStreamTests
    typealias F = HubFixture

    enum Way: CaseIterable, Sendable { case connection, eventStream }

    /// A program that answers what the daemon asks, and says whatever a test wants.
    final class Program: Sendable {
        /// Returns `"result":…` or `"error":…` for a request; nil says nothing.
        typealias Answers = @Sendable (_ message: JSONValue) -> String?

        private let heard = Mutex<[JSONValue]>([])
        private let daemon: Daemon
        private let answers: Answers
        private let socket: WireSocket?
        private let stream: WireStream?
        private let serving = Mutex<Task<Void, any Error>?>(nil)
        private let link = Mutex("")

        init(_ way: Way, _ daemon: Daemon, client: String, _ answers: @escaping Answers) async throws {
            self.daemon = daemon
            self.answers = answers
            guard way == .connection else {
                socket = nil
                let stream = try Page.open(daemon, try await Page.ticket(daemon), client: client)
                self.stream = stream
                guard await stream.opened() else { throw NothingThere() }
                serving.withLock { $0 = Task { try await serve(stream) } }
                return
            }
            stream = nil
            let socket = try WireSocket(port: daemon.port, isRecorded: false)
            self.socket = socket
            let fields = [
                "Authorization: Bearer secret", "Connection: Upgrade", "Upgrade: mcp", "Content-Length: 0",
            ]
            socket.send(
                RequestHandlerTests.request("POST /providers?channel=a&client=\(client)&report=1", fields))
            TestThread.run { self.read(socket) }
        }

        var methods: [String] { heard.withLock { $0.compactMap { $0["method"]?.stringValue } } }
        var all: [JSONValue] { heard.withLock { $0 } }

        func count(_ method: String) -> Int { methods.count { $0 == method } }

        /// The parameters of the last report of what was accepted.
        func report() async -> JSONValue? {
            _ = await comesTrue { self.count(ClientToolReport.method) > 0 }
            return all.last { $0["method"]?.stringValue == ClientToolReport.method }?["params"]
        }

        /// Sends messages; returns false if the daemon has ended the connection.
        @discardableResult
        func say(_ messages: [String]) async throws -> Bool {
            if let socket {
                let text = messages.map { $0 + "\n" }.joined()
                return await withCheckedContinuation { done in
                    TestThread.run { done.resume(returning: socket.trySend(Array(text.utf8))) }
                }
            }
            let link = link.withLock { $0 }
            for message in messages {
                let answer = try await Page.send(
                    daemon, "POST", link, Page.auth + Page.json, body: message)
                if ![202, 400].contains(answer.status) { return false }
            }
            return true
        }

        /// Sends a part of a message.
        func write(_ text: String) { socket?.send(text) }

        func stop() {
            socket?.shutdown()
            stream?.close()
            serving.withLock { $0?.cancel() }
        }

        private func answer(_ message: JSONValue) -> String? {
            heard.withLock { $0.append(message) }
            guard let id = message["id"], message["method"] != nil, let outcome = answers(message) else {
                return nil
            }
            return #"{"jsonrpc":"2.0","id":\#(id.serialized()),\#(outcome)}"#
        }

        private func serve(_ stream: WireStream) async throws {
            var next = 0
            while !Task.isCancelled, !stream.isOver || next < stream.messages.count {
                guard next < stream.messages.count else {
                    await pause()
                    continue
                }
                let data = stream.messages[next].data
                next += 1
                if data.hasPrefix("providers/messages?link=") {
                    link.withLock { $0 = "/" + data }
                } else if let text = answer(try JSONValue(parsing: data)) {
                    try await say([text])
                }
            }
        }

        private func read(_ socket: WireSocket) {
            var bytes: [UInt8] = []
            var hasHead = false
            while let piece = socket.receive() {
                bytes += piece
                if !hasHead {
                    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
                    bytes.removeSubrange(..<end.upperBound)
                    hasHead = true
                }
                while let end = bytes.firstIndex(of: 0x0A) {
                    let line = String(decoding: bytes[..<end], as: UTF8.self)
                    bytes.removeSubrange(...end)
                    guard let message = try? JSONValue(parsing: line), let text = answer(message) else {
                        continue
                    }
                    socket.send(text + "\n")
                }
            }
        }
    }

    /// What a program answers that has these tools, and leaves calls open.
    static func answers(
        tools: @escaping @Sendable (JSONValue) -> String = { _ in
            #"[{"name":"t","inputSchema":{"type":"object"}}]"#
        }
    ) -> Program.Answers {
        { message in
            switch message["method"]?.stringValue {
            case "initialize":
                #""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"#
                    + #""serverInfo":{"name":"evil","version":"1"}}"#
            case "tools/list": #""result":{"tools":\#(tools(message))}"#
            case "ping": #""result":{}"#
            case "tools/call": nil
            default: #""error":{"code":-32601,"message":"no"}"#
            }
        }
    }

    private static func daemon() throws -> Daemon { try Daemon(token: "secret", origins: [Page.page]) }

    private static let changed = #"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#

    private static func result(_ id: String, _ text: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"result":{"content":[{"type":"text","text":"\#(text)"}]}}"#
    }

    // MARK: Answers

    // Each connection has its own ids: what one program answers never ends a call that another one has.
    @Test(arguments: Way.allCases) func nobodyAnswersForAnother(_ way: Way) async throws {
        let daemon = try Self.daemon()
        let (begun, release) = (Gate(), Gate())
        let bank = try await MCPClient.connect(
            .inProcess(
                try F.provider([F.tool("pay")]) { _, _ in
                    begun.open()
                    await release.wait()
                    return .text("real")
                }), options: ProviderLink.options)
        try await daemon.hub.attach(bank, channel: "a", clientID: "bank")
        let evil = try await Program(way, daemon, client: "evil", Self.answers())
        try await daemon.until("t", in: "a")
        let agent = try await daemon.agent("a")
        async let answer = agent.said("pay")
        #expect(await begun.wait())
        let ids = (0 ..< 60).flatMap { ["\($0)", "\"\($0)\""] } + ["null", "1.5", "[1]", "{}", "-1", "1e99"]
        try await evil.say(
            ids.map { Self.result($0, "forged") }
                + [
                    #"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#
                ])
        // Nor by the endpoint for clients of the façade.
        for id in ["1", "0123456789abcdef0123456789abcdef", ""] {
            let body = #"{"invocation_id":"\#(id)","result":{"content":[{"type":"text","text":"forged"}]}}"#
            let sent = try await Page.send(
                daemon, "POST", "/client-tools/result", origin: nil, Page.auth + Page.json, body: body)
            #expect(sent.status == 404)
        }
        release.open()
        #expect(try await answer == .text("real"))
        #expect(await daemon.hub.counts.callsInFlight == 0)
        await agent.close()
        evil.stop()
        await daemon.stop()
    }

    // An answer that comes twice, or after its call has ended, reaches no other call.
    @Test(arguments: Way.allCases) func answersAfterTheEnd(_ way: Way) async throws {
        let daemon = try Self.daemon()
        let program = try await Program(way, daemon, client: "p", Self.answers())
        try await daemon.until("t", in: "a")
        let agent = try await daemon.agent("a")
        func id(_ number: Int) async throws -> String {
            #expect(await comesTrue { program.count("tools/call") > number })
            let calls = program.all.filter { $0["method"]?.stringValue == "tools/call" }
            return try #require(calls[number]["id"]).serialized()
        }
        let given = Task { try await agent.said("t") }
        let first = try await id(0)
        given.cancel()
        _ = await given.result
        #expect(await comesTrue { program.count("notifications/cancelled") == 1 })
        for _ in 0 ..< 1_000 where await daemon.hub.counts.callsInFlight > 0 { await pause() }
        async let second = agent.said("t")
        let other = try await id(1)
        #expect(other != first)
        try await program.say([Self.result(first, "late"), Self.result(first, "later")])
        try await program.say([Self.result(other, "right"), Self.result(other, "again")])
        #expect(try await second == .text("right"))
        async let third = agent.said("t")
        try await program.say([Self.result(other, "old"), Self.result(try await id(2), "third")])
        #expect(try await third == .text("third"))
        #expect(await daemon.hub.counts.callsInFlight == 0)
        await agent.close()
        program.stop()
        await daemon.stop()
    }

    // A program is asked, and asks nothing: its requests have answers, and disturb nobody.
    @Test(arguments: Way.allCases) func requestsOfAProgramAreRefused(_ way: Way) async throws {
        let daemon = try Self.daemon()
        let program = try await Program(way, daemon, client: "p", Self.answers())
        try await daemon.until("t", in: "a")
        let methods = ["sampling/createMessage", "elicitation/create", "roots/list", "tools/call", "x"]
        try await program.say(
            methods.enumerated().map {
                #"{"jsonrpc":"2.0","id":"q\#($0.offset)","method":"\#($0.element)","params":{"name":"builtin"}}"#
            })
        func errors() -> [JSONValue] {
            program.all.filter { $0["id"]?.stringValue?.hasPrefix("q") == true && $0["error"] != nil }
        }
        #expect(await comesTrue { errors().count == methods.count })
        #expect(errors().allSatisfy { $0["result"] == nil })
        let agent = try await daemon.agent("a")
        #expect(try await agent.listTools().map(\.name) == ["builtin", "t"])
        await agent.close()
        program.stop()
        await daemon.stop()
    }

    // MARK: Lists

    // No more of a list is read than what it takes to refuse it.
    @Test(arguments: Way.allCases) func tenThousandTools(_ way: Way) async throws {
        let daemon = try Self.daemon()
        let pages = Counter()
        let program = try await Program(way, daemon, client: "p") { message in
            guard message["method"]?.stringValue == "tools/list" else { return Self.answers()(message) }
            let page = pages.increment()
            let tools = (0 ..< 50).map { #"{"name":"t\#(page)_\#($0)","inputSchema":{"type":"object"}}"# }
            return #""result":{"tools":[\#(tools.joined(separator: ","))],"nextCursor":"\#(page)"}"#
        }
        let report = try #require(await program.report())
        #expect(report["problem"]?.stringValue == "p offers more than 64 tools, so none of them is offered")
        #expect(pages.value == 2)
        #expect(await daemon.hub.counts.tools == 0)
        // All in one page, the other way round.
        let once = try await Program(way, daemon, client: "q") { message in
            guard message["method"]?.stringValue == "tools/list" else { return Self.answers()(message) }
            let tools = (0 ..< 10_000).map { #"{"name":"t\#($0)","inputSchema":{"type":"object"}}"# }
            return #""result":{"tools":[\#(tools.joined(separator: ","))]}"#
        }
        #expect(await once.report()?["problem"]?.stringValue?.contains("more than 64 tools") == true)
        let agent = try await daemon.agent("a")
        #expect(try await agent.listTools().map(\.name) == ["builtin"])
        await agent.close()
        for one in [program, once] { one.stop() }
        await daemon.stop()
    }

    // Pages without tools, each with a cursor of its own.
    @Test func aListThatNeverEnds() async throws {
        let page = Counter()
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "initialize":
                .result(
                    heard,
                    #"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"e","version":"1"}}"#
                )
            case "tools/list": .result(heard, #"{"tools":[],"nextCursor":"\#(page.increment())"}"#)
            case "notifications/initialized": .status(202)
            default: .status(405)
            }
        }
        defer { peer.stop() }
        var options = ProviderLink.options
        options.protocol = .exactly(.v2025_11_25)
        let client = try await MCPClient.connect(peer.target, options: options)
        let link = ProviderLink(client: client, listTimeout: .milliseconds(50))
        let error = await clientError { _ = try await link.tools() }
        #expect(error?.kind == .timeout)
        #expect(error?.message == "the list of tools was not complete within 50 ms")
        await client.close()
    }

    // A list that begins and does not go on costs nobody else anything.
    @Test func aListThatDrips() async throws {
        let daemon = try Self.daemon()
        let slow = try await Program(.connection, daemon, client: "slow") { message in
            message["method"]?.stringValue == "tools/list" ? nil : Self.answers()(message)
        }
        #expect(await comesTrue { slow.count("tools/list") == 1 })
        slow.write(#"{"jsonrpc":"2.0","id":1,"result":{"tools":["#)
        let good = try await MCPClient.connect(
            .inProcess(try F.provider([F.tool("good")])), options: ProviderLink.options)
        try await daemon.hub.attach(good, channel: "a", clientID: "good")
        let agent = try await daemon.agent("a")
        #expect(try await agent.said("good") == .text("good"))
        await agent.close()
        slow.stop()
        await daemon.stop()
    }

    // A program that says after each reading that its list has changed.
    @Test(arguments: Way.allCases) func aListThatAlwaysChanges(_ way: Way) async throws {
        let daemon = try Self.daemon()
        let lists = Counter()
        let program = try await Program(
            way, daemon, client: "p",
            Self.answers { _ in #"[{"name":"t\#(lists.increment() % 2)","inputSchema":{"type":"object"}}]"# })
        try await daemon.until("t1", in: "a")
        let start = ContinuousClock.now
        let before = lists.value
        for number in 1 ... 4 {
            #expect(await comesTrue { lists.value >= before + number - 1 })
            try await program.say([Self.changed, Self.changed, Self.changed])
        }
        #expect(await comesTrue { lists.value >= before + 4 })
        // Three pauses between four readings.
        #expect(ContinuousClock.now - start >= ClientToolLimits.changePause * 3)
        program.stop()
        await daemon.stop()
    }

    // MARK: Names

    static let names: [String] = [
        String(repeating: "x", count: 300_000), "a" + String(repeating: "\u{301}", count: 100_000),
        "a\nclient tools: unregistered channel=a client=bank", "\u{1B}[2Jx", "a b", "\u{202E}txt", "",
    ]

    // Names have any length: a report and a log show 128 bytes of them, on one line.
    @Test(arguments: Way.allCases) func hugeNames(_ way: Way) async throws {
        let daemon = try Self.daemon()
        let tools = Self.names.map { name -> JSONValue in
            ["name": .string(name), "inputSchema": ["type": "object"]]
        }
        let long = JSONValue.string(String(repeating: "y", count: 100_000))
        let fine: JSONValue = [
            "name": "fine", "title": long, "description": long, "inputSchema": ["type": "object"],
            "_meta": [.init(VendorKey.instructions): long, .init(VendorKey.scopes): [long]],
        ]
        let text = JSONValue.array(tools + [fine]).serialized()
        let program = try await Program(way, daemon, client: "p", Self.answers { _ in text })
        let report = try #require(await program.report())
        #expect(report["tools"] == ["fine"])
        let refused = report["refused"]?.arrayValue ?? []
        #expect(refused.count == Self.names.count)
        for entry in refused {
            let (name, reason) = (entry["name"]?.stringValue ?? "?", entry["reason"]?.stringValue ?? "")
            #expect(name.utf8.count <= 128 && !reason.isEmpty && reason.utf8.count <= 512)
            #expect(!(name + reason).unicodeScalars.contains { $0.value < 0x20 })
        }
        #expect(await comesTrue { daemon.log.contains { $0.contains("registered channel=a client=p") } })
        for line in daemon.log {
            #expect(line.utf8.count < 8_192 && !line.contains("\n") && !line.contains("\u{1B}"))
        }
        let shown = try #require(await daemon.hub.clientTools(of: "a").first)
        #expect(shown.description?.utf8.count == ClientToolLimits.textBytes)
        #expect((shown.title?.utf8.count ?? .max) <= ClientToolLimits.textBytes + 64)
        program.stop()
        await daemon.stop()
    }

    @Test func hugeNamesOfStreamsClients() async throws {
        let daemon = try Self.daemon()
        let entries = Self.names.map { ["name": .string($0), "description": "d"] as JSONValue }
        let body: JSONValue = [
            "channel_id": "a", "tools": .array(entries + [["name": "fine", "description": "d"]]),
        ]
        let answer = try await Page.send(
            daemon, "POST", "/register-tools", origin: nil, Page.auth + Page.json, body: body.serialized())
        #expect(answer.status == 200)
        #expect(try JSONValue(parsing: answer.text)["count"] == 1)
        for line in daemon.log { #expect(line.utf8.count < 8_192 && !line.contains("\n")) }
        let name = String(repeating: "x", count: 5_000)
        for target in ["client=\(name)&channel=a", "client=p&channel=\(name)"] {
            let refused = try await Page.send(daemon, "GET", "/providers?\(target)", origin: nil)
            #expect([400, 414, 431].contains(refused.status))
        }
        await daemon.stop()
    }
}
