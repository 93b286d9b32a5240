import MCPCore
import Synchronization
import TestSupport
import Testing

/// A malicious server against the client.
@Suite("faults: client", .ownThreads, .serialized) struct ClientFaults {
    /// Connects to a peer that sends `pieces` for whatever is asked; returns the error.
    private func failure(
        _ pieces: @escaping @Sendable (String) -> any Sequence<[UInt8]>, headers: [(String, String)] = []
    ) async throws -> ClientError {
        let peer = try RawPeer(pieces)
        defer { peer.stop() }
        var options = ClientOptions()
        options.headers = headers
        options.maxMessageBytes = 1 << 20
        options.maxEventBytes = 1 << 20
        options.connectTimeout = .seconds(8)
        options.protocol = .exactly(.newest)
        do {
            let client = try await MCPClient.connect(.http(peer.url), options: options)
            await client.close()
            throw FaultTestError("the client took the answer")
        } catch let error as ClientError {
            return error
        }
    }

    private static func answer(_ status: String, _ fields: String, _ body: String = "") -> [UInt8] {
        Array("HTTP/1.1 \(status)\r\n\(fields)\r\n\(body)".utf8)
    }

    private static func endless(_ start: String, _ piece: String) -> any Sequence<[UInt8]> {
        let repeated = Array(String(repeating: piece, count: max(1, 16_384 / piece.utf8.count)).utf8)
        return sequence(state: true) { (isFirst: inout Bool) -> [UInt8]? in
            defer { isFirst = false }
            return isFirst ? Array(start.utf8) : repeated
        }
    }

    @Test("fault 68: heads, bodies and streams without end") func fault68Endless() async throws {
        let json = "Content-Type: application/json\r\n"
        let stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        let peers: [(String, @Sendable (String) -> any Sequence<[UInt8]>)] = [
            ("a status line", { _ in Self.endless("HTTP/1.1 200 ", "x") }),
            ("a field", { _ in Self.endless("HTTP/1.1 200 OK\r\nX: ", "x") }),
            ("fields", { _ in Self.endless("HTTP/1.1 200 OK\r\n", "X: 1\r\n") }),
            ("interim answers", { _ in Self.endless("", "HTTP/1.1 100 Continue\r\n\r\n") }),
            ("a body", { _ in Self.endless("HTTP/1.1 200 OK\r\n\(json)\r\n", " ") }),
            (
                "a body that is announced",
                { _ in
                    Self.endless("HTTP/1.1 200 OK\r\n\(json)Content-Length: 999999999999\r\n\r\n", " ")
                }
            ),
            (
                "chunks",
                { _ in
                    Self.endless("HTTP/1.1 200 OK\r\n\(json)Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n")
                }
            ),
            (
                "a chunk extension",
                { _ in Self.endless("HTTP/1.1 200 OK\r\n\(json)Transfer-Encoding: chunked\r\n\r\n1;", "x") }
            ),
            ("a line of a stream", { _ in Self.endless("\(stream)\r\ndata: ", "x") }),
            ("lines of an event", { _ in Self.endless("\(stream)\r\n", "data: x\n") }),
        ]
        for (name, peer) in peers {
            let error = try await failure(peer)
            #expect(error.kind == .protocolViolation, "\(name): \(error)")
        }
    }

    @Test("fault 68: redirects, codings and nonsense") func fault68Redirects() async throws {
        let target = try RawPeer { _ in [Self.answer("200 OK", "Content-Length: 0\r\n")] }
        defer { target.stop() }
        let places = ["/mcp", "file:///etc/passwd", "//evil.example/", "javascript:alert(1)", target.url]
        for place in places {
            let error = try await failure(
                { _ in [Self.answer("307 Temporary Redirect", "Location: \(place)\r\nContent-Length: 0\r\n")]
                },
                headers: [("Authorization", "Bearer canary")])
            #expect(error.kind == .redirect, "\(place)")
            #expect(!error.description.contains("canary"))
        }
        // No request, and so no token, has left the origin.
        #expect(target.requests.withLock { $0.isEmpty })
        let bomb = try await failure { _ in
            [
                Self.answer(
                    "200 OK",
                    "Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n", "abc"
                )
            ]
        }
        #expect(bomb.kind == .protocolViolation)
        let nonsense = [
            "", "\r\n\r\n\r\n", "SSH-2.0-x\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 OK\r\n\r\n",
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX : 1\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nnull",
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"a\":\u{FFFD}}",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\n{}",
        ]
        for text in nonsense {
            let error = try await failure { _ in [Array(text.utf8)] }
            #expect([.protocolViolation, .connectionClosed].contains(error.kind), "\(text): \(error)")
        }
        // A body that ends early is no answer.
        let cut = try await failure { _ in
            [
                Self.answer(
                    "200 OK", "Content-Type: application/json\r\nContent-Length: 100\r\n", "{\"jsonrpc\"")
            ]
        }
        #expect(cut.kind == .connectionClosed)
    }

    /// An answer to `server/discover` of the id that the request has.
    private static func discovery(_ request: String) -> String {
        let digits = request.components(behind: #""id":"#).prefix { $0.isNumber }
        return
            #"{"jsonrpc":"2.0","id":\#(digits),"result":{"resultType":"complete","ttlMs":0,"#
            + #""cacheScope":"public","supportedVersions":["2026-07-28"],"capabilities":{}}}"#
    }

    @Test("fault 69: event streams as the WHATWG rules have them") func fault69() async throws {
        typealias Stream = @Sendable (String) -> String
        let streams: [(String, Stream)] = [
            ("a BOM", { "\u{FEFF}data: \($0)\n\n" }), ("CR only", { "data: \($0)\r\r" }),
            ("CR LF", { "data: \($0)\r\n\r\n" }), ("no space", { "data:\($0)\n\n" }),
            ("comments", { ": hello\n:\n\n: more\ndata: \($0)\n\n" }),
            ("an id with NUL", { "id: a\u{0}b\ndata: \($0)\n\n" }),
            ("an empty id", { "id\ndata: \($0)\n\n" }),
            ("a retry that is none", { "retry: 1e9\nretry: -1\nretry: x\ndata: \($0)\n\n" }),
            ("an event without data", { "event: message\n\nid: 7\n\ndata: \($0)\n\n" }),
            ("empty data", { "data\n\ndata:\n\ndata: \($0)\n\n" }),
            ("another type", { "event: ping\ndata: {}\n\nevent: message\ndata: \($0)\n\n" }),
            ("unknown fields", { "foo: bar\nDATA: x\n data: x\ndata: \($0)\n\n" }),
            (
                "two lines of data",
                { text in
                    "data: \(text.prefix(17))\ndata: \(text.dropFirst(17))\n\n"
                }
            ),
        ]
        for (name, stream) in streams {
            for pieceBytes in [1 << 20, 1] {
                let peer = try RawPeer { request in
                    let text = stream(Self.discovery(request))
                    let fields = "Content-Type: text/event-stream\r\nContent-Length: \(text.utf8.count)\r\n"
                    let bytes = Self.answer("200 OK", fields, text)
                    return stride(from: 0, to: bytes.count, by: pieceBytes).map {
                        Array(bytes[$0 ..< min(bytes.count, $0 + pieceBytes)])
                    }
                }
                defer { peer.stop() }
                var options = ClientOptions()
                options.protocol = .exactly(.newest)
                do {
                    let client = try await MCPClient.connect(.http(peer.url), options: options)
                    #expect(client.supportedVersions == ["2026-07-28"], "\(name)")
                    await client.close()
                } catch {
                    Issue.record("\(name) in pieces of \(pieceBytes): \(error)")
                }
            }
        }
        // An event that is not finished when the stream ends is dropped.
        let error = try await failure { request in
            [
                Self.answer(
                    "200 OK", "Content-Type: text/event-stream\r\n", "data: \(Self.discovery(request))\n")
            ]
        }
        #expect(error.kind == .connectionClosed)
    }
}

extension String {
    /// What follows the first `mark`.
    fileprivate func components(behind mark: String) -> Substring {
        var rest = self[...]
        while !rest.isEmpty, !rest.hasPrefix(mark) { rest = rest.dropFirst() }
        return rest.dropFirst(mark.count)
    }
}
