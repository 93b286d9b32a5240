import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let messages: [LimitProof] = {
        let (server, http) = (ServerLimits(), HTTPLimits())
        return [
            LimitProof(
                "depth of JSON", "\(server.maxJSONDepth) (\(JSONLimits.greatestDepth) at most)", jsonDepth),
            LimitProof("string request id", LimitText.bytes(RequestID.maxBytes), requestID),
            LimitProof("line over stdio", LimitText.bytes(server.maxLineBytes), line),
            LimitProof("body over HTTP", LimitText.bytes(http.maxBodyBytes), body),
            LimitProof("batch (2025-03-26)", "\(server.maxBatchMessages) messages", batch),
            LimitProof("resource address", LimitText.bytes(Dispatcher.maxURIBytes), address),
            LimitProof("page of a list", "\(server.pageSize) entries", page),
        ]
    }()

    /// `levels` arrays, one in the other.
    private static func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }

    @Sendable private static func jsonDepth() async throws {
        for limit in [ServerLimits().maxJSONDepth, 10] {
            var options = ServerOptions()
            options.limits.maxJSONDepth = limit
            try await withClient(.inMemory("2025-11-25"), try TestServer(options).server) { client in
                // The message, its params and their arguments are three levels.
                for (levels, code) in [(limit - 3, nil), (limit - 2, -32700)] {
                    let text =
                        #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":"#
                        + #"{"text":"x","deep":\#(nested(levels))}}}"#
                    let reply = await client.send(text: text, id: 7)
                    #expect(reply.errorCode == code)
                    #expect(reply.text == (code == nil ? "x" : ""))
                }
            }
        }
        #expect(JSONLimits(maxDepth: 1_000).maxDepth == JSONLimits.greatestDepth)
        for kind in ["now", "later"] { try await TypedToolTests().resultsThatAreTooDeep(kind) }
    }

    @Sendable private static func requestID() async throws {
        try await withClient(.inMemory("2025-11-25"), try TestServer().server) { client in
            for (count, code) in [(RequestID.maxBytes, nil), (RequestID.maxBytes + 1, -32600)] {
                let id = JSONValue.string(String(repeating: "i", count: count))
                let reply = await client.send(
                    text: #"{"jsonrpc":"2.0","id":\#(id.serialized()),"method":"ping"}"#, id: id)
                #expect(reply.errorCode == code)
                #expect((reply.result != nil) == (code == nil))
            }
        }
    }

    @Sendable private static func line() async throws {
        var options = ServerOptions()
        options.limits.maxLineBytes = 100
        let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
        func padded(_ count: Int) -> String { ping + String(repeating: " ", count: count - ping.utf8.count) }
        let heard = try await LineServerTests.lines(
            padded(100) + "\n" + padded(101) + "\n" + ping, try TestServer(options).server)
        #expect(heard.map { $0["error"]?["code"]?.int } == [nil, -32600, nil])
        #expect(heard.map { $0["id"]?.int } == [1, nil, 1])
    }

    @Sendable private static func body() async throws {
        var options = HTTPServerOptions()
        options.limits.maxBodyBytes = 1_000
        try await TestServer().server.withPort(options) { port in
            let discover = HTTPServerTests.body("server/discover")
            let fits = discover + String(repeating: " ", count: 1_000 - discover.utf8.count)
            let answers = try await answers(
                port, [HTTPServerTests.post(fits), HTTPServerTests.post(fits + " ")])
            #expect(answers.statuses == [200, 413])
            #expect(answers.isClosed)
        }
    }

    @Sendable private static func batch() async throws {
        let limit = ServerLimits().maxBatchMessages
        try await withClient(.inMemory("2025-03-26"), try TestServer().server) { client in
            func batch(_ count: Int) -> String {
                let pings = (0 ..< count).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"ping"}"# }
                return "[\(pings.joined(separator: ","))]"
            }
            #expect(await client.send(text: batch(limit)).answer?.elements?.count == limit)
            #expect(await client.send(text: batch(limit + 1)).errorCode == -32600)
        }
    }

    @Sendable private static func address() async throws {
        let start = "mem://item/"
        try await withClient(.inMemory(), try TestServer().server) { client in
            for (count, code) in [
                (Dispatcher.maxURIBytes, nil), (Dispatcher.maxURIBytes + 1, -32602),
            ] {
                let uri = start + String(repeating: "n", count: count - start.utf8.count)
                let reply = await client.request("resources/read", ["uri": .string(uri)])
                #expect(reply.errorCode == code)
                #expect(reply.result?["contents"]?[0]?["uri"]?.string == (code == nil ? uri : nil))
                #expect(code == nil || reply.errorMessage?.contains("8192 bytes") == true)
            }
        }
    }

    @Sendable private static func page() async throws {
        let limit = ServerLimits().pageSize
        for (count, pages) in [(limit, [limit]), (limit + 1, [limit, 1])] {
            let server = MCPServer("s", version: "1")
            for number in 0 ..< count { server.addTool("t\(number)", "") { "" } }
            try await withClient(.inMemory(), server) { client in
                var (sizes, cursor): ([Int], JSONValue?) = ([], nil)
                repeat {
                    let reply = await client.request("tools/list", cursor.map { ["cursor": $0] } ?? [:])
                    sizes.append(reply.result?["tools"]?.elements?.count ?? -1)
                    cursor = reply.result?["nextCursor"]?.value
                } while cursor != nil && sizes.count < 5
                #expect(sizes == pages)
            }
        }
    }

    /// What comes back for these requests on one connection, and whether the server closed it then.
    static func answers(
        _ port: UInt16, _ requests: [String]
    ) async throws -> (statuses: [Int], responses: [WireResponse], isClosed: Bool) {
        try await onThread {
            let socket = try WireSocket(port: port, isRecorded: false)
            for request in requests { socket.send(request) }
            var reader = WireReader(socket)
            var responses: [WireResponse] = []
            for _ in requests { if let response = reader.response() { responses.append(response) } }
            socket.finishWriting()
            return (responses.map(\.status), responses, reader.response() == nil)
        }
    }
}
