import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI

/// A tap in front of servers that say more than they were asked for: servers of 2024-11-05, whose responses
/// come on another stream, and servers that ask.
@Suite(.timeLimit(.minutes(5))) struct TapStreamTests {
    /// Where the peer's responses go: to the stream that was opened last.
    private final class Streams: Sendable {
        private let state = Mutex<(peer: HTTPPeer?, stream: Int)>((nil, 0))

        func take(_ peer: HTTPPeer) { state.withLock { $0.peer = peer } }
        func opened(_ connection: Int) { state.withLock { $0.stream = connection } }

        func event(_ data: String) {
            let (peer, stream) = state.withLock { ($0.peer, $0.stream) }
            peer?.say("event: message\r\ndata: \(data)\r\n\r\n", on: stream)
        }
    }

    private final class Lines: Sendable {
        private let all = Mutex<[UInt8]>([])
        var bytes: [UInt8] { all.withLock { $0 } }
        func add(_ line: [UInt8]) { all.withLock { $0 += line } }
    }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    private static let tools =
        #"{"tools":[{"name":"t","inputSchema":{"type":"object"}},{"name":"u","inputSchema":{"type":"object"}}]}"#

    private static func server(
        announcing endpoint: String = "/messages?session_id=1", then others: [String] = []
    ) throws -> HTTPPeer {
        let streams = Streams()
        let peer = try HTTPPeer { heard in
            if heard.method == "GET" {
                streams.opened(heard.connection)
                let events = ([endpoint] + others).map { "event: endpoint\r\ndata: \($0)\r\n\r\n" }
                return .raw(head, events.joined(), then: .hang)
            }
            guard heard.head.hasPrefix("POST /messages?session_id=1 ") else { return .status(405) }
            let result: String? =
                switch heard.rpcMethod {
                case "initialize": Script.initialized("2024-11-05", capabilities: #"{"tools":{}}"#)
                case "tools/list": tools
                case "tools/call": #"{"content":[{"type":"text","text":"done"}]}"#
                default: nil
                }
            if let result { streams.event(#"{"jsonrpc":"2.0","id":\#(heard.id),"result":\#(result)}"#) }
            return .status(202)
        }
        streams.take(peer)
        return peer
    }

    /// Runs `work` with a tap of a URL, and returns what it recorded.
    private func withTap(
        _ url: String, _ options: Options = Options(), notes: TapNotes = TapNotes(),
        _ work: (CommandHarness, TapHandler, String) async throws -> Void
    ) async throws -> [RecordedLine] {
        let lines = Lines()
        let log = ExchangeLog(mask: MessageMask()) { lines.add($0) }
        let filter = options.checks.allowed.isEmpty ? nil : ToolFilter(options.checks.allowed)
        let handler = try TapHandler(.http(url), options, log, filter, notes: notes)
        try await handler.served { try await work($0, handler, "http://127.0.0.1:\($1)\(handler.path)") }
        log.finish()
        return try Recording(lines.bytes, name: "r").lines
    }

    // MARK: 2024-11-05

    @Test func theAnnouncedAddressIsPassedOn() async throws {
        let peer = try Self.server()
        defer { peer.stop() }
        let lines = try await withTap("http://\(peer.endpoint)/sse") { harness, handler, address in
            #expect(!handler.handles(path: "/messages"))
            let call = await harness.run("call", address, "t")
            #expect(call.stdout == "done\n", "\(call.stderr)")
            // The address goes with the stream.
            await waitUntil { !handler.handles(path: "/messages") }
            let late = await handler.respond(
                to: HTTPRequest(method: "POST", target: "/messages?session_id=1", body: Array("{}".utf8)))
            #expect(late.status == 404)
        }
        for method in ["tools/list", "tools/call"] {
            #expect(lines.contains { $0.method == method && $0.outcome == "ok" && $0.response != nil })
        }
        #expect(lines.contains { $0.method == "initialize" && $0.response != nil })
    }

    /// A tap is no proxy for other addresses of the server.
    @Test func nothingElseIsPassedOn() async throws {
        let peer = try Self.server(announcing: "messages?session_id=1")
        defer { peer.stop() }
        _ = try await withTap("http://\(peer.endpoint)/sse") { _, handler, address in
            let relay = try HTTPRelay(url: address, tls: OpenSSLProvider.system)
            let response = try await relay.send(method: "GET", fields: HeaderFields(), body: nil)
            guard case .events(let events, insert: _) = response.body else {
                Issue.record("this is no event stream")
                return
            }
            var iterator = events.makeAsyncIterator()
            let event = await iterator.next()
            #expect(event?.type == "endpoint")
            #expect(event.map { String($0.data) } == "/messages?session_id=1")
            for (method, target) in [
                ("POST", "/messages?session_id=2"), ("POST", "/messages"), ("POST", "/other"),
                ("GET", "/messages?session_id=1"), ("DELETE", "/messages?session_id=1"),
            ] {
                let answer = await handler.respond(
                    to: HTTPRequest(method: method, target: target, body: Array("{}".utf8)))
                #expect(answer.status == 404, "\(method) \(target)")
            }
            #expect(peer.heard.map(\.method) == ["GET"])
            let ping = #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
            let passed = await handler.respond(
                to: HTTPRequest(method: "POST", target: "/messages?session_id=1", body: Array(ping.utf8)))
            #expect(passed.status == 202)
            #expect(peer.heard.last?.rpcMethod == "notifications/initialized")
            withExtendedLifetime(events) {}
        }
    }

    /// Some clients use the first address of a stream, some the last.
    @Test func aServerThatAnnouncesSeveralAddresses() async throws {
        let peer = try Self.server(then: ["/messages?session_id=2", "/messages?session_id=3"])
        defer { peer.stop() }
        let lines = try await withTap("http://\(peer.endpoint)/sse") { harness, handler, address in
            let call = await harness.run("call", address, "t")
            #expect(call.stdout == "done\n", "\(call.stderr)")
            let relay = try HTTPRelay(url: address, tls: OpenSSLProvider.system)
            let response = try await relay.send(method: "GET", fields: HeaderFields(), body: nil)
            guard case .events(let events, insert: _) = response.body else {
                Issue.record("this is no event stream")
                return
            }
            var iterator = events.makeAsyncIterator()
            for _ in 0 ..< 3 { #expect(await iterator.next()?.type == "endpoint") }
            let ping = Array(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.utf8)
            for (number, status) in [(1, 202), (2, 404), (3, 405)] {
                let answer = await handler.respond(
                    to: HTTPRequest(method: "POST", target: "/messages?session_id=\(number)", body: ping))
                #expect(answer.status == status, "\(number)")
            }
            withExtendedLifetime(events) {}
        }
        #expect(lines.contains { $0.method == "tools/call" && $0.outcome == "ok" })
    }

    /// The refusal comes where the client expects the response.
    @Test func aRefusalComesOnTheStream() async throws {
        let peer = try Self.server()
        defer { peer.stop() }
        var options = Options()
        options.checks.allowed = ["t"]
        let lines = try await withTap("http://\(peer.endpoint)/sse", options) { harness, _, address in
            let listed = await harness.run("tools", address)
            #expect(listed.stdout.hasPrefix("t("), "\(listed.stdout)\(listed.stderr)")
            #expect(!listed.stdout.contains("u("))
            let refused = await harness.run("--no-validate", "call", address, "u", "{}")
            #expect(refused.stderr.contains("is not allowed here"), "\(refused.stderr)")
        }
        #expect(lines.contains { $0.name == "u" && $0.outcome == "error" })
        #expect(!peer.heard.contains { $0.rpcMethod == "tools/call" })
    }

    /// A client that went there would go past the tap. The note says what is wrong with the address.
    @Test(arguments: [
        (
            "http://127.0.0.1:1/messages",
            "wants messages to be sent to http://127.0.0.1:1/messages, which is at another origin"
        ),
        (
            "javascript:alert(1)?token=secret",
            "wants messages to be sent to javascript:alert(1)?…, which is at another origin"
        ),
        (
            "http://127.0.0.1:1/" + String(repeating: "secret", count: 40),
            "wants messages to be sent to http://127.0.0.1:1/…, which is at another origin"
        ),
        (
            "/mess\tages" + String(repeating: "secret", count: 40),
            "sent to a text of 250 bytes, which is not a URL"
        ),
        ("/mess\tages", "which is not a URL"),
        ("/mess\u{1B}ages?sid=secret", "ages?…, which is not a URL"),
        (
            "http://u:secret@127.0.0.1:1/messages",
            "wants messages to be sent to a URL with a user name or a password"
        ),
    ])
    func anAddressThatIsNotPassedOn(_ announced: String, _ reason: String) async throws {
        let peer = try Self.server(announcing: announced)
        defer { peer.stop() }
        let said = Mutex<[String]>([])
        let notes = TapNotes { text in said.withLock { $0.append(text) } }
        _ = try await withTap("http://\(peer.endpoint)/sse", notes: notes) { harness, handler, address in
            let outcome = await harness.run("tools", address)
            #expect(outcome.code != .ok)
            #expect(!handler.handles(path: "/messages"))
        }
        let notesSaid = said.withLock { $0 }
        #expect(notesSaid.count == 1, "\(notesSaid)")
        #expect(notesSaid.first?.hasSuffix("\(reason): its event stream was ended") == true, "\(notesSaid)")
        #expect(notesSaid.first?.contains("secret") == false)
    }

    // MARK: Questions

    /// The answer is in another request of the session than the question.
    @Test func aQuestionHasItsAnswer() async throws {
        let http = try AskingServer.make().start([.http(port: 0)])
        let port = http.addresses.first?.port ?? 0
        let lines = try await withTap("http://127.0.0.1:\(port)/mcp") { harness, _, address in
            let outcome = await harness.run(
                "--protocol", "2025-11-25", "--answer", "name=Ada", "--answer", "people=3", "call", address,
                "book")
            #expect(outcome.stdout.hasPrefix("accept "), "\(outcome.stdout)\(outcome.stderr)")
        }
        await http.stop()
        let questions = lines.filter { $0.method == "elicitation/create" }
        #expect(questions.map(\.side) == [.server] && questions.map(\.outcome) == ["ok"])
        #expect(questions.first?.response?["result"]?["action"]?.string == "accept")
    }
}
