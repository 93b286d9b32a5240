import MCPApps
import MCPCore
import MCPHarness
import TestSupport
import Testing

/// Servers over HTTP whose views are not what a host expects: the card says why, and the result is there.
@Suite(.timeLimit(.minutes(5))) struct HostileServerTests {
    private static let uri = "ui://evil/view"

    /// A server with one tool and its view, which answers `resources/read` as a test wants.
    private func peer(_ read: @escaping @Sendable (HTTPPeer.Heard) -> HTTPPeer.Answer) throws -> HTTPPeer {
        try HTTPPeer { heard in
            guard heard.method == "POST" else { return .status(405) }
            switch heard.rpcMethod {
            case "initialize":
                return .result(
                    heard,
                    #"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"#
                        + #""serverInfo":{"name":"evil","version":"1"}}"#)
            case "tools/list":
                return .result(
                    heard,
                    #"{"tools":[{"name":"show","inputSchema":{"type":"object"},"#
                        + #""_meta":{"ui":{"resourceUri":"\#(Self.uri)"}}}]}"#)
            case "tools/call":
                return .result(heard, #"{"content":[{"type":"text","text":"the result is there"}]}"#)
            case "resources/list": return .result(heard, #"{"resources":[]}"#)
            case "resources/read": return read(heard)
            default:
                return heard.body?["id"] == nil
                    ? .status(202)
                    : .json(#"{"jsonrpc":"2.0","id":\#(heard.id),"error":{"code":-32601,"message":"no"}}"#)
            }
        }
    }

    private static func contents(
        _ html: String, type: String = "text/html;profile=mcp-app", uri: String = uri
    )
        -> String
    {
        #"{"contents":[{"uri":"\#(uri)","mimeType":"\#(type)","text":"\#(html)"}]}"#
    }

    /// Calls the tool of a server, and returns why its view is not shown. The call has its result, no view is
    /// open, and the host goes on.
    private func problem(
        _ peer: HTTPPeer, _ change: (inout AppHostOptions) -> Void = { _ in }
    ) async throws -> String {
        var options = HostFixture.options()
        options.client.protocol = .exactly(.v2025_11_25)
        change(&options)
        let fixture = await HostFixture(options)
        let id = try await fixture.host.addServer(.http("http://\(peer.endpoint)/mcp"), name: "evil")
        _ = try await fixture.first { event in
            if case .tools(id, let tools) = event, !tools.isEmpty { true } else { nil }
        }
        let call = try await fixture.host.call(id, "show")
        let told = try await fixture.call(call) { $0.problem != nil }
        let end = try await fixture.call(call)
        #expect(end.state == .completed && end.result?.text == "the result is there")
        #expect(!fixture.all.contains { if case .viewOpened = $0 { true } else { false } })
        let other = try await fixture.add(try UIServer().server, as: "other")
        #expect(try await fixture.call(fixture.host.call(other, "plain")).state == .completed)
        await fixture.close()
        return told.problem ?? ""
    }

    // A document is read from its server and from nowhere else.
    @Test(arguments: [301, 302, 303, 307, 308]) func aDocumentThatIsElsewhere(_ status: Int) async throws {
        let elsewhere = try RequestRecorder()
        defer { elsewhere.stop() }
        let place = elsewhere.origin
        let peer = try peer { _ in .status(status, headers: "Location: \(place)/view\r\n") }
        defer { peer.stop() }
        let problem = try await problem(peer)
        #expect(problem.hasPrefix("The view cannot be shown: "))
        #expect(problem.contains(place), "\(problem)")
        #expect(elsewhere.requests.isEmpty)
    }

    // 100 MB, announced and not, and one that is a little too large.
    @Test(arguments: [true, false]) func aHugeDocument(_ isAnnounced: Bool) async throws {
        let piece = String(repeating: "x", count: 1 << 20)
        let sent = Counter()
        let peer = try peer { _ in
            sent.increment()
            let length = isAnnounced ? "Content-Length: 104857600\r\n" : "Connection: close\r\n"
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\(length)\r\n"
            return HTTPPeer.Answer(
                pieces: [head + #"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"text":""#]
                    + Array(repeating: piece, count: 100), then: .close)
        }
        defer { peer.stop() }
        let problem = try await problem(peer) { $0.client.maxMessageBytes = 16 << 20 }
        #expect(problem.hasPrefix("The view cannot be shown: "))
        #expect(problem.contains("KiB at most"), "\(problem)")
        #expect(sent.value == 1)
    }

    @Test func aDocumentThatIsTooLarge() async throws {
        let html = String(repeating: "x", count: UIResource.maxBytes + 1)
        let peer = try peer { .result($0, Self.contents(html)) }
        defer { peer.stop() }
        #expect(try await problem(peer).contains("8 MiB"))
    }

    // One that begins and does not go on.
    @Test func aDocumentThatNeverEnds() async throws {
        let peer = try peer { _ in
            .raw(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n",
                #"{"jsonrpc":"2.0","#, then: .hang)
        }
        defer { peer.stop() }
        let problem = try await problem(peer) { $0.timeout = .milliseconds(300) }
        #expect(problem.contains("within 300 ms"), "\(problem)")
    }

    @Test(arguments: [
        "text/html", "image/svg+xml;profile=mcp-app", "application/xhtml+xml", "text/plain;profile=mcp-app",
        "",
        "text/html;profile=mcp-app-evil", "multipart/mixed;profile=mcp-app",
    ])
    func aDocumentOfAnotherType(_ type: String) async throws {
        let peer = try peer { .result($0, Self.contents("<p>x</p>", type: type)) }
        defer { peer.stop() }
        #expect(try await problem(peer).contains("type"))
    }

    @Test(arguments: [
        "{}", #"{"contents":{}}"#, #"{"contents":[]}"#, #"{"contents":[7]}"#,
        #"{"contents":[{"uri":"ui://evil/view","mimeType":"text/html;profile=mcp-app","blob":"/////w=="}]}"#,
    ])
    func aDocumentThatIsNone(_ result: String) async throws {
        let peer = try peer { .result($0, result) }
        defer { peer.stop() }
        #expect(try await problem(peer).hasPrefix("The view cannot be shown: "))
    }
}
