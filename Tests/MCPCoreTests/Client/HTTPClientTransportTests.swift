import MCPCore
import Synchronization
import TestSupport
import Testing

/// The HTTP client against a peer that says exactly what a script gives.
@Suite struct HTTPClientTransportTests {
    /// A modern server that answers everything but discover by `other`.
    static func modern(
        _ other: @escaping @Sendable (HTTPPeer.Heard) -> HTTPPeer.Answer
    ) throws -> HTTPPeer {
        try HTTPPeer { heard in
            heard.rpcMethod == "server/discover" ? .result(heard, Script.discovered) : other(heard)
        }
    }

    static func legacy(
        session: String? = nil, capabilities: String = "{}",
        _ other: @escaping @Sendable (HTTPPeer.Heard) -> HTTPPeer.Answer
    ) throws -> HTTPPeer {
        try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": .status(400)
            case "initialize":
                .result(
                    heard, Script.initialized(capabilities: capabilities),
                    headers: session.map { "Mcp-Session-Id: \($0)\r\n" } ?? "")
            case "notifications/initialized": .status(202)
            default: other(heard)
            }
        }
    }

    static func chunked(_ text: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n0\r\n\r\n"
    }

    /// An answer that cannot be read was given all the same: the call may have run.
    @Test(arguments: [("tools/call", true), ("prompts/get", false)])
    func unreadableAnswers(_ method: String, _ mayHaveRun: Bool) async throws {
        let peer = try Self.modern { _ in .status(202) }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError { _ = try await client.request(method, ["name": "x"]) }
        #expect(error?.kind == .protocolViolation)
        #expect(
            error?.details.contains("\(method) may have been executed; it was not sent again") == mayHaveRun)
        await client.close()
    }

    /// A proxy that lost the response, and a server that failed, may have run the call; a busy one has not.
    @Test(arguments: [
        (500, "tools/call", true), (502, "tools/call", true), (504, "tools/call", true),
        (520, "tools/call", true), (599, "tools/call", true), (501, "tools/call", false),
        (503, "tools/call", false), (429, "tools/call", false), (504, "prompts/get", false),
    ])
    func lostResponses(_ status: Int, _ method: String, _ mayHaveRun: Bool) async throws {
        let peer = try Self.modern { _ in .status(status) }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError { _ = try await client.request(method, ["name": "x"]) }
        #expect(error?.kind == .httpStatus && error?.httpStatus == status)
        #expect(
            error?.details.contains("\(method) may have been executed; it was not sent again") == mayHaveRun)
        #expect(error?.mayHaveBeenExecuted == mayHaveRun)
        await client.close()
    }

    private func outcome(
        _ answer: @escaping @Sendable (HTTPPeer.Heard) -> HTTPPeer.Answer,
        options: ClientOptions = ClientOptions()
    ) async throws -> ClientError? {
        let peer = try Self.modern(answer)
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target, options: options)
        let error = await clientError {
            _ = try await client.request("tools/list", options: CallOptions(timeout: .seconds(10)))
        }
        await client.close()
        return error
    }

    // MARK: Requests

    @Test func modernRequest() async throws {  // HTTPC-01 to HTTPC-04, HDR-01, HDR-04, HDR-05, HDR-09
        let peer = try Self.modern { .result($0, #"{"content":[]}"#) }
        defer { peer.stop() }
        var options = ClientOptions(name: "cli", version: "1")
        options.headers = [("Authorization", "Bearer secret"), ("X-Team", "a")]
        let traced = Mutex<[String]>([])
        options.trace = { event in
            if case .httpRequest(let head) = event { traced.withLock { $0.append(head) } }
        }
        let client = try await MCPClient.connect(peer.target, options: options)
        _ = try await client.callTool("ädd", ["a": 1])
        let call = try #require(peer.heard.last)
        #expect(call.head.hasPrefix("POST /mcp HTTP/1.1\r\n"))
        #expect(call.header("host") == peer.endpoint)
        #expect(call.header("content-type") == "application/json")
        // HTTPC-02, HTTPC-03
        #expect(call.header("accept") == "application/json, text/event-stream")
        #expect(call.header("mcp-protocol-version") == "2026-07-28")
        #expect(call.header("mcp-method") == "tools/call")
        #expect(call.header("mcp-name") == "=?base64?w6RkZA==?=")
        #expect(call.header("authorization") == "Bearer secret")
        // HTTPC-12
        #expect(peer.heard.allSatisfy { $0.header("authorization") == "Bearer secret" })
        #expect(peer.heard.allSatisfy { !$0.head.prefix { $0 != "\r\n" }.contains("secret") })
        // TOOL-10
        #expect(call.body?["params"]?["name"]?.string == "ädd")
        #expect(call.body?["params"]?["arguments"]?.value == ["a": 1])
        #expect(call.header("x-team") == "a")
        #expect(call.header("user-agent") == "cli/1")
        #expect(call.header("accept-encoding") == nil)
        #expect(peer.connections == 1)
        #expect(traced.withLock { $0 }.allSatisfy { !$0.contains("secret") && $0.contains("[redacted]") })
        await client.close()
    }

    @Test(arguments: ["Host", "content-length", "Mcp-Session-Id", "bad name", "MCP-Protocol-Version"])
    func headersThatCannotBeGiven(_ name: String) async {
        var options = ClientOptions()
        options.headers = [(name, "x")]
        let error = await clientError {
            _ = try await MCPClient.connect(.http("http://127.0.0.1:1/mcp"), options: options)
        }
        #expect(error?.kind == .invalidRequest)
    }

    @Test func legacySession() async throws {  // LEG-21, LEG-22, LEG-26, HDR-02
        let peer = try Self.legacy(session: "s-1") { heard in
            heard.method == "DELETE" ? .status(405) : .result(heard, #"{"tools":[]}"#)
        }
        defer { peer.stop() }
        let traced = Mutex<[String]>([])
        var options = ClientOptions()
        options.trace = { event in
            if case .httpRequest(let head) = event { traced.withLock { $0.append(head) } }
        }
        let client = try await MCPClient.connect(peer.target, options: options)
        _ = try await client.listTools()
        await client.close()
        // LEG-27: whoever has the id has the session, so that it is not shown.
        #expect(traced.withLock { $0 }.contains { $0.lowercased().contains("mcp-session-id: [redacted]") })
        #expect(traced.withLock { $0 }.allSatisfy { !$0.contains("s-1") })
        let heard = peer.heard
        #expect(
            heard.map(\.rpcMethod) == [
                "server/discover", "initialize", "notifications/initialized", "tools/list", "",
            ])
        #expect(heard[1].header("mcp-session-id") == nil)
        #expect(heard[1].header("mcp-protocol-version") == nil)
        for later in heard.dropFirst(2) {
            #expect(later.header("mcp-session-id") == "s-1")
            #expect(later.header("mcp-protocol-version") == "2025-11-25")
            #expect(later.header("mcp-method") == nil)
        }
        #expect(heard.last?.method == "DELETE")
    }

    @Test func sessionNotFoundOpensANewOne() async throws {  // LEG-25
        let count = Mutex(0)
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": return .status(404)
            case "initialize":
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return .result(heard, Script.initialized(), headers: "mcp-session-id: s\(number)\r\n")
            case "notifications/initialized": return .status(202)
            default:
                let isKnown = heard.header("mcp-session-id") == "s2"
                return isKnown
                    ? .result(heard, #"{"tools":[]}"#)
                    : .json(
                        #"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"gone"}}"#,
                        status: 404)
            }
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        #expect(try await client.listTools().isEmpty)
        #expect(
            peer.heard.filter { $0.rpcMethod == "initialize" }.allSatisfy {
                $0.header("mcp-session-id") == nil
            })
        #expect(count.withLock { $0 } == 2)
        await client.close()
    }

    /// A result is one whatever its status is: the call was carried out, and is not sent again.
    @Test func aResultBesideSessionNotFoundIsTaken() async throws {
        let peer = try Self.legacy(session: "s") { heard in
            heard.rpcMethod == "tools/call"
                ? .json(#"{"jsonrpc":"2.0","id":\#(heard.id),"result":{"content":[]}}"#, status: 404)
                : .status(204)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        #expect(try await client.callTool("t").content.isEmpty)
        await client.close()
        #expect(peer.heard.filter { $0.rpcMethod == "tools/call" }.count == 1)
        #expect(peer.heard.filter { $0.rpcMethod == "initialize" }.count == 1)
    }

    @Test func deleteDoesNotHang() async throws {
        let peer = try Self.legacy(session: "s") { _ in .raw(then: .hang) }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let start = ContinuousClock.now
        await client.close()
        #expect(ContinuousClock.now - start < .seconds(8))
    }

    // MARK: Answers

    /// One event stream, cut at every place, with both line ends; comments and priming events are passed
    /// over.
    /// HTTPC-05, HTTPC-06.
    @Test(arguments: ["\n", "\r\n"]) func eventStreamInPieces(_ newline: String) async throws {
        let progress = Mutex(0)
        let peer = try Self.modern { heard in
            let lines = [
                ": hello", "id: 1", "data:", "", "event: message",
                "data: " + Script.progress(heard.id),
                "", ": ping", "", "event: other", "data: {}", "",
                #"data: {"jsonrpc":"2.0","id":\#(heard.id),"#,
                #"data: "result":{"text":"ä€😀"}}"#, "", "",
            ]
            let size = Int(heard.id).map { $0 % 7 + 1 } ?? 1
            var pieces: [String] = []
            var rest = Self.chunked(lines.joined(separator: newline))[...]
            while !rest.isEmpty {
                pieces.append(String(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            return HTTPPeer.Answer(pieces: pieces)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        for _ in 0 ..< 7 {
            let result = try await client.request(
                "tools/call", ["name": "x"], options: CallOptions { _ in progress.withLock { $0 += 1 } })
            #expect(result["text"]?.string == "ä€😀")
        }
        #expect(progress.withLock { $0 } == 7)
        await client.close()
    }

    // HTTPC-11: a message that was too large for the server fails alone.
    @Test(arguments: [413, 431]) func tooLargeForTheServer(_ status: Int) async throws {
        let peer = try Self.modern { heard in
            heard.header("mcp-name") == "big" ? .status(status) : .result(heard, #"{"content":[]}"#)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError { _ = try await client.callTool("big") }
        #expect(error?.httpStatus == status)
        #expect(try await client.callTool("small").content == [])
        await client.close()
    }

    @Test func errorsAreReadAtAnyStatus() async throws {
        for (status, id) in [(400, "ID"), (404, "ID"), (200, "ID"), (500, "null"), (400, "\"server-error\"")]
        {
            let peer = try Self.modern { heard in
                let id = id == "ID" ? heard.id : id
                return .json(
                    #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-32602,"message":"m"}}"#, status: status)
            }
            defer { peer.stop() }
            let client = try await MCPClient.connect(peer.target)
            await #expect(throws: MCPError.invalidParams("m")) {
                try await client.request("tools/call", ["name": "x"])
            }
            #expect(peer.connections == 1)
            await client.close()
        }
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        let name: String
        let answer: @Sendable (HTTPPeer.Heard) -> HTTPPeer.Answer
        let kind: ClientError.Kind
        var text = ""
        var testDescription: String { name }
    }

    /// Fault 68 and what else a server can get wrong.
    @Test(arguments: [
        Bad(name: "202 for a request", answer: { _ in .status(202) }, kind: .protocolViolation, text: "202"),
        Bad(
            name: "another id", answer: { _ in .json(#"{"jsonrpc":"2.0","id":99,"result":{}}"#) },
            kind: .protocolViolation),
        Bad(name: "not JSON", answer: { _ in .json("hello") }, kind: .protocolViolation, text: "hello"),
        Bad(
            name: "HTML",
            answer: { _ in .raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>")
            },
            kind: .protocolViolation, text: "text/html"),
        Bad(
            name: "401", answer: { _ in .status(401, headers: "WWW-Authenticate: Bearer\r\n") },
            kind: .authentication, text: "Bearer"),
        Bad(name: "403", answer: { _ in .json("{}", status: 403) }, kind: .authentication),
        Bad(
            name: "503", answer: { _ in .status(503, headers: "Retry-After: 7\r\n") }, kind: .httpStatus,
            text: "Retry-After: 7"),
        Bad(
            name: "redirect", answer: { _ in .status(307, headers: "Location: http://evil.example/\r\n") },
            kind: .redirect, text: "http://evil.example/"),
        Bad(
            name: "redirect to a file",
            answer: { _ in .status(302, headers: "Location: file:///etc/passwd\r\n") }, kind: .redirect),
        Bad(
            name: "gzip", answer: { _ in .json("{}", headers: "Content-Encoding: gzip\r\n") },
            kind: .protocolViolation, text: "gzip"),
        Bad(
            name: "endless headers",
            answer: { _ in
                .raw(
                    "HTTP/1.1 200 OK\r\n",
                    String(repeating: "X: \(String(repeating: "y", count: 900))\r\n", count: 60))
            },
            kind: .protocolViolation, text: "header"),
        Bad(
            name: "endless status line",
            answer: { _ in .raw("HTTP/1.1 200 \(String(repeating: "x", count: 40_000))") },
            kind: .protocolViolation),
        Bad(
            name: "huge Content-Length",
            answer: { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n") },
            kind: .protocolViolation),
        Bad(
            name: "two lengths",
            answer: { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}") },
            kind: .protocolViolation),
        Bad(name: "no HTTP", answer: { _ in .raw("220 smtp ready\r\n\r\n") }, kind: .protocolViolation),
        Bad(
            name: "endless event",
            answer: { _ in
                .raw(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ",
                    String(repeating: "x", count: 300_000), then: .hang)
            }, kind: .protocolViolation, text: "event"),
        Bad(
            name: "events without an answer",
            answer: { _ in
                .raw(HTTPClientTransportTests.chunked("data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n"))
            },
            kind: .connectionClosed, text: "ended without"),
        Bad(
            name: "truncated body",
            answer: { _ in
                .raw(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
                    then: .close)
            },
            kind: .connectionClosed),
        Bad(
            name: "closed in the head", answer: { _ in .raw("HTTP/1.1 200 OK\r\n", then: .close) },
            kind: .connectionClosed),
        Bad(
            name: "nested too deep",
            answer: { heard in
                .json(
                    #"{"jsonrpc":"2.0","id":\#(heard.id),"result":"#
                        + String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
                        + "}")
            }, kind: .protocolViolation),
    ]) func badServers(_ row: Bad) async throws {
        var options = ClientOptions()
        options.maxMessageBytes = 1 << 20
        options.maxEventBytes = 100_000
        let error = try #require(try await outcome(row.answer, options: options))
        #expect(error.kind == row.kind, "\(error)")
        #expect("\(error)".contains(row.text), "\(error)")
    }

    @Test func credentialsGoNowhereElse() async throws {  // fault 68, GHSA-9g45-5xwm-f3wc
        let other = try HTTPPeer { .result($0, "{}") }
        defer { other.stop() }
        let place = other.endpoint
        let peer = try HTTPPeer { _ in .status(307, headers: "Location: http://\(place)/mcp\r\n") }
        defer { peer.stop() }
        var options = ClientOptions()
        options.headers = [("Authorization", "Bearer secret")]
        let error = await clientError { _ = try await MCPClient.connect(peer.target, options: options) }
        #expect(error?.kind == .redirect)
        #expect(other.connections == 0)
    }

    // MARK: Connections

    @Test func aConnectionIsUsedAgain() async throws {
        let peer = try Self.modern { .result($0, "{}") }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        for _ in 0 ..< 20 { _ = try await client.request("tools/list") }
        #expect(peer.connections == 1)
        await client.close()
    }

    @Test func manyCallsAtOnce() async throws {
        let peer = try Self.modern { .result($0, #"{"echo":\#($0.id)}"#) }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0 ..< 150 { group.addTask { _ = try await client.request("tools/list") } }
            try await group.waitForAll()
        }
        #expect(peer.connections < 150)
        #expect(peer.heard.count == 151)
        await client.close()
    }

    /// A kept-alive connection that dies before the first byte of the answer: once more on a new one, and no
    /// more.
    @Test(arguments: [HTTPPeer.Then.close, .reset]) func resetOfAKeptConnection(_ then: HTTPPeer.Then)
        async throws
    {
        let peer = try Self.modern { heard in
            heard.connection == 1 ? .raw(then: then) : .result(heard, #"{"again":true}"#)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        #expect(try await client.request("tools/list")["again"]?.bool == true)
        #expect(peer.connections == 2)
        await client.close()
    }

    @Test func resetTwiceIsAnError() async throws {
        let error = try await outcome { _ in .raw(then: .close) }
        #expect(error?.kind == .connectionClosed)
    }

    @Test func noRepetitionAfterTheFirstByte() async throws {
        let peer = try Self.modern { _ in .raw("H", then: .close) }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError { _ = try await client.request("tools/list") }
        #expect(error?.kind == .connectionClosed)
        #expect(peer.heard.count == 2)
        await client.close()
    }

    @Test func cancellingClosesTheExchange() async throws {  // HTTPC-08
        let peer = try Self.modern { _ in .raw(then: .hang) }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError {
            _ = try await client.request(
                "tools/call", ["name": "x"], options: CallOptions(timeout: .milliseconds(500)))
        }
        #expect(error?.kind == .timeout)
        await waitUntil { peer.ended > 0 }
        #expect(peer.ended == 1)
        #expect(!peer.heard.contains { $0.rpcMethod == "notifications/cancelled" })
        await client.close()
    }

    @Test func legacyCancellingIsPosted() async throws {  // CANC-01, LEG-09
        let peer = try Self.legacy(session: "s") { heard in
            heard.rpcMethod == "tools/call" ? .raw(then: .hang) : .status(202)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError {
            _ = try await client.request(
                "tools/call", ["name": "x"], options: CallOptions(timeout: .milliseconds(500)))
        }
        #expect(error?.kind == .timeout)
        await waitUntil { peer.heard.contains { $0.rpcMethod == "notifications/cancelled" } }
        await client.close()
        let notice = try #require(peer.heard.first { $0.rpcMethod == "notifications/cancelled" })
        #expect(notice.body?["params"]?["requestId"]?.int == 3)
        #expect(notice.header("mcp-session-id") == "s")
    }

    @Test func serverRequestsAreAnsweredByPost() async throws {
        let peer = try Self.legacy { heard in
            guard heard.rpcMethod == "tools/call" else { return .status(202) }
            let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#
            return .raw(
                Self.chunked(
                    "data: \(ping)\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":\(heard.id),\"result\":{}}\n\n"))
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        _ = try await client.request("tools/call", ["name": "x"])
        await waitUntil { peer.heard.last?.body?["result"] != nil }
        #expect(peer.heard.last?.body?["id"]?.string == "p")
        await client.close()
    }

    @Test func nobodyListens() async throws {
        let peer = try HTTPPeer { _ in .status(200) }
        let endpoint = peer.endpoint
        peer.stop()
        var error: ClientError?
        for _ in 0 ..< 200 where error?.kind != .cannotConnect {
            error = await clientError { _ = try await MCPClient.connect(.http("http://\(endpoint)/mcp")) }
        }
        #expect(error?.message == "cannot connect to \(endpoint): connection refused")
    }

    @Test func unixSocket() async throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/s"
        let missing = await clientError { _ = try await MCPClient.connect(.unix(path: path)) }
        #expect(missing?.kind == .cannotConnect)
        #expect(missing?.message == "cannot connect to \(path): no such file or directory")
        let peer = try HTTPPeer(unixPath: path) { heard in
            heard.rpcMethod == "server/discover" ? .result(heard, Script.discovered) : .result(heard, "{}")
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        _ = try await client.request("tools/list")
        #expect(peer.heard.last?.header("host") == "localhost")
        await client.close()
    }

    @Test func namesAreLookedUp() async throws {
        let peer = try Self.modern { .result($0, "{}") }
        defer { peer.stop() }
        let port = peer.endpoint.split(separator: ":").last ?? ""
        let client = try await MCPClient.connect(.http("http://localhost:\(port)/mcp"))
        await client.close()
        let error = await clientError {
            _ = try await MCPClient.connect(.http("http://no-such-host.invalid/mcp"))
        }
        #expect(error?.kind == .cannotConnect)
        #expect(error?.message.contains("no-such-host.invalid") == true)
    }
}
