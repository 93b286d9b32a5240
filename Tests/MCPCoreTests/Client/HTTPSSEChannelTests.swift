import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// HTTP+SSE of 2024-11-05: DUAL-17, LEG-30, LEG-31.
@Suite struct HTTPSSEChannelTests {
    private typealias Answer = HTTPPeer.Answer
    private typealias Heard = HTTPPeer.Heard

    /// The peer, for scripts that say something on another connection than the one they answer.
    private final class Box: Sendable {
        private let state = Mutex<(peer: HTTPPeer?, stream: Int)>((nil, 0))
        var peer: HTTPPeer? { state.withLock { $0.peer } }
        var stream: Int { state.withLock { $0.stream } }

        func take(_ peer: HTTPPeer) { state.withLock { $0.peer = peer } }
        func opened(_ connection: Int) { state.withLock { $0.stream = connection } }

        func event(_ data: String) { peer?.say("event: message\r\ndata: \(data)\r\n\r\n", on: stream) }
        func result(_ heard: Heard, _ result: String) {
            event(#"{"jsonrpc":"2.0","id":\#(heard.id),"result":\#(result)}"#)
        }
    }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    /// A server as of 2024-11-05: `call` answers what is neither opening nor notification.
    private static func server(
        endpoint: String = "/messages/?session_id=1", refusal: Int = 405,
        initialized: String = Script.initialized("2024-11-05"),
        call: @escaping @Sendable (Heard, Box) -> Answer = { heard, box in
            box.result(heard, "{}")
            return .status(202)
        }
    ) throws -> (HTTPPeer, Box) {
        let box = Box()
        let peer = try HTTPPeer { heard in
            if heard.method == "GET" {
                box.opened(heard.connection)
                return .raw(head, "event: endpoint\r\ndata: \(endpoint)\r\n\r\n", then: .hang)
            }
            guard heard.head.hasPrefix("POST /messages/?session_id=1 ") else { return .status(refusal) }
            switch heard.rpcMethod {
            case "initialize": box.result(heard, initialized)
            case "notifications/initialized", "": break
            default: return call(heard, box)
            }
            return .raw("HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted")
        }
        box.take(peer)
        return (peer, box)
    }

    @Test(arguments: [400, 404, 405]) func conversation(_ refusal: Int) async throws {
        let (peer, box) = try Self.server(refusal: refusal) { heard, box in
            box.event(Script.progress(heard.id))
            box.event(#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#)
            box.result(heard, #"{"text":"ä"}"#)
            return .status(202)
        }
        defer { peer.stop() }
        var options = ClientOptions()
        options.headers = [("Authorization", "Bearer secret")]
        let client = try await MCPClient.connect(peer.target, options: options)
        #expect(client.protocolVersion == .v2024_11_05)
        let reports = Mutex(0)
        let result = try await client.request(
            "tools/call", ["name": "x"], options: CallOptions { _ in reports.withLock { $0 += 1 } })
        #expect(result["text"]?.string == "ä")
        #expect(reports.withLock { $0 } == 1)
        await waitUntil { peer.heard.contains { $0.body?["id"]?.string == "p" } }
        let heard = peer.heard
        #expect(
            heard.map(\.rpcMethod) == [
                "server/discover", "initialize", "", "initialize", "notifications/initialized", "tools/call",
                "",
            ])
        #expect(heard[2].method == "GET")
        #expect(heard[2].header("accept") == "text/event-stream")
        #expect(heard.allSatisfy { $0.header("authorization") == "Bearer secret" })
        for message in heard.dropFirst(3) {
            #expect(message.head.hasPrefix("POST /messages/?session_id=1 HTTP/1.1\r\n"))
            #expect(message.header("mcp-session-id") == nil)
        }
        #expect(box.stream > 0)
        await client.close()
        await waitUntil { peer.ended >= 2 }
        #expect(!peer.heard.contains { $0.method == "DELETE" })
    }

    // LEG-30: the one stream carries what the server says unasked.
    @Test func changesAreHeard() async throws {
        let (peer, box) = try Self.server(
            initialized: Script.initialized(
                "2024-11-05",
                capabilities: #"{"tools":{"listChanged":true},"resources":{"subscribe":true}}"#))
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let filter = SubscriptionFilter(toolsListChanged: true, resourceURIs: ["note:///1"])
        let subscription = try await client.listen(filter, needsStream: true)
        #expect(subscription.accepted == filter)
        box.event(#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)
        var changes = subscription.makeAsyncIterator()
        #expect(try await changes.next() == .toolsListChanged)
        box.event(
            #"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note:///1"}}"#)
        #expect(try await changes.next() == .resourceUpdated("note:///1"))
        #expect(peer.heard.count { $0.method == "GET" } == 1)
        await client.close()
    }

    @Test func manyCallsAtOnce() async throws {
        let (peer, _) = try Self.server { heard, box in
            box.result(heard, #"{"echo":\#(heard.id)}"#)
            return .status(202)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0 ..< 100 {
                group.addTask { try await client.request("tools/list")["echo"] != nil }
            }
            for try await isRight in group { #expect(isRight) }
        }
        await client.close()
    }

    @Test func cancellingIsPosted() async throws {  // CANC-01
        let (peer, _) = try Self.server { _, _ in .status(202) }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError {
            _ = try await client.request(
                "tools/call", ["name": "x"], options: CallOptions(timeout: .milliseconds(500)))
        }
        #expect(error?.kind == .timeout)
        await waitUntil { peer.heard.contains { $0.rpcMethod == "notifications/cancelled" } }
        #expect(
            peer.heard.last { $0.rpcMethod == "notifications/cancelled" }?.head.hasPrefix("POST /mess")
                == true)
        await client.close()
    }

    @Test func messageThatIsRefused() async throws {
        let (peer, _) = try Self.server { _, _ in
            .raw("HTTP/1.1 413 X\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\ntoo long")
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(error?.kind == .httpStatus)
        #expect(error?.details.contains("body: too long") == true)
        await client.close()
    }

    /// The stream is the connection.
    @Test func streamThatEnds() async throws {
        let (peer, box) = try Self.server { _, box in
            box.peer?.end(box.stream)
            return .status(202)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        for _ in 0 ..< 2 {
            let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
            #expect(error?.kind == .connectionClosed)
            #expect(error?.message.contains("event stream") == true, "\(String(describing: error))")
        }
        #expect(box.stream > 0)
        await client.close()
        #expect(peer.heard.count { $0.method == "GET" } == 1)
    }

    /// Who only waits for changes makes no call that could fail, and hears of the next session.
    @Test func aStreamThatEndsWhileChangesAreAwaited() async throws {
        let (peer, box) = try Self.server(
            initialized: Script.initialized(
                "2024-11-05", capabilities: #"{"resources":{"subscribe":true}}"#))
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let filter = SubscriptionFilter(resourceURIs: ["note:///1"])
        let subscription = try await client.listen(filter, needsStream: true)
        let first = box.stream
        peer.end(first)
        var changes = subscription.makeAsyncIterator()
        #expect(try await changes.next() == .resubscribed)
        #expect(box.stream != first)
        box.event(
            #"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note:///1"}}"#)
        #expect(try await changes.next() == .resourceUpdated("note:///1"))
        #expect(peer.heard.count { $0.rpcMethod == "resources/subscribe" } == 2)
        #expect(peer.heard.count { $0.method == "GET" } == 2)
        // Calls use the new session, too.
        _ = try await client.request("tools/call", ["name": "x"])
        await client.close()
    }

    // MARK: No such server

    /// A path with two slashes is another origin for whoever resolves it.
    @Test func announcedWithTwoSlashes() async throws {
        for path in ["/.//evil.example/x", "/a/..//evil.example/x", #"/\evil.example/x"#] {
            let (peer, _) = try Self.server(endpoint: path)
            defer { peer.stop() }
            await #expect(throws: ClientError.self) { try await MCPClient.connect(peer.target) }
        }
    }

    @Test func announcedElsewhere() async throws {
        let other = try HTTPPeer { .result($0, "{}") }
        defer { other.stop() }
        let (peer, _) = try Self.server(endpoint: "http://\(other.endpoint)/messages/?session_id=1")
        defer { peer.stop() }
        let error = await clientError { _ = try await MCPClient.connect(peer.target) }
        #expect(error?.kind == .protocolViolation)
        #expect(
            error?.message.hasSuffix("/messages/?…, which is at another origin") == true,
            "\(String(describing: error))")
        #expect(other.connections == 0)
    }

    @Test(arguments: ["405", "json", "silent", "ends"]) func noStreamAtAll(_ kind: String) async throws {
        let peer = try HTTPPeer { heard in
            guard heard.method == "GET" else { return .status(404) }
            return switch kind {
            case "405": .status(405)
            case "json": .json("{}")
            case "silent": .raw(Self.head, ": hello\n\n", then: .hang)
            default: .events("data: {}\n\n")
            }
        }
        defer { peer.stop() }
        var options = ClientOptions()
        options.connectTimeout = .seconds(kind == "silent" ? 2 : 10)
        let error = await clientError { _ = try await MCPClient.connect(peer.target, options: options) }
        #expect(error?.kind == .httpStatus)
        #expect(error?.httpStatus == 404)
        #expect(error?.hint?.contains("is the path correct?") == true)
        #expect(peer.heard.map(\.method) == ["POST", "POST", "GET"])
    }

    /// What only a modern server says is no reason to look for an old one (DUAL-15, DUAL-17).
    @Test(arguments: [(404, -32601), (400, -32020), (400, -32021), (400, -32022)])
    func modernRefusals(_ status: Int, _ code: Int) async throws {
        let peer = try HTTPPeer { heard in
            heard.rpcMethod == "server/discover"
                ? .status(400)
                : .json(
                    #"{"jsonrpc":"2.0","id":\#(heard.id),"error":{"code":\#(code),"message":"no"}}"#,
                    status: status)
        }
        defer { peer.stop() }
        await #expect(throws: (any Error).self) { _ = try await MCPClient.connect(peer.target) }
        #expect(peer.heard.map(\.method) == ["POST", "POST"])
    }

    /// DUAL-18.
    @Test(arguments: [401, 500, 503]) func otherStatusesAreNoEvidence(_ status: Int) async throws {
        let peer = try HTTPPeer { $0.rpcMethod == "server/discover" ? .status(400) : .status(status) }
        defer { peer.stop() }
        let error = await clientError { _ = try await MCPClient.connect(peer.target) }
        #expect(error?.httpStatus == status)
        #expect(peer.heard.map(\.method) == ["POST", "POST"])
    }

    // MARK: The announced place

    @Test(
        arguments: [
            ("/messages?s=1", "/messages?s=1"), ("messages", "/a/messages"), ("?x=1", "/a/sse?x=1"),
            ("../m/./n", "/m/n"), ("http://Host:8000/m", "/m"), ("HTTP://host:8000?x", "/?x"),
            ("//host:8000/m", "/m"),
            ("", "/a/sse?q"), ("/m#part", "/m"), ("/m?u=http://evil/", "/m?u=http://evil/"),
            ("http://host/m", nil), ("http://host:8001/m", nil), ("http://evil:8000/m", nil),
            ("//evil/m", nil),
            ("https://host:8000/m", nil), ("file:///etc/passwd", nil), ("http://host:8000@evil/m", nil),
            ("http://u@host:8000/m", nil), ("http:/m", nil), ("/a b", nil), ("/a\u{1}", nil), ("/ä", nil),
            ("javascript:x", nil), ("http://[host]:8000/m", nil),
        ] as [(String, String?)]) func places(_ reference: String, _ expected: String?) throws
    {
        let endpoint = try HTTPEndpoint(url: "http://host:8000/a/sse?q")
        let target = try? endpoint.target(of: reference)
        #expect(target == expected)
        if expected == nil {
            #expect(throws: ClientError.self) { try endpoint.target(of: reference) }
        }
    }

    @Test func placesBehindASocket() throws {
        let endpoint = try HTTPEndpoint(unixPath: "/run/s", target: "/sse")
        #expect(try endpoint.target(of: "/m?x") == "/m?x")
        #expect(try endpoint.target(of: "http://localhost/m") == "/m")
        #expect(throws: ClientError.self) { try endpoint.target(of: "http://other/m") }
    }
}
