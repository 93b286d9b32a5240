import Foundation
import MCPCore
import MCPFoundation
import Synchronization
import TestSupport
import Testing

/// The client's protocol over `URLSession`, against this library's own server and against scripted ones.
@Suite struct URLSessionCarrierTests {
    private static let discovered =
        #"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"#
        + #""serverInfo":{"name":"peer","version":"1"}}"#

    /// A server that answers everything but discover by `other`.
    private static func peer(
        _ other: @escaping @Sendable (HTTPPeer.Heard) -> HTTPPeer.Answer
    ) throws -> HTTPPeer {
        try HTTPPeer { heard in
            heard.rpcMethod == "server/discover" ? .result(heard, discovered) : other(heard)
        }
    }

    private static func connect(_ url: String, _ options: ClientOptions = ClientOptions()) async throws
        -> MCPClient
    {
        try await MCPClient.connect(.http(url, carrier: URLSessionCarrier()), options: options)
    }

    /// Returns the error of one call of a server that answers it like this.
    private func outcome(
        _ options: ClientOptions = ClientOptions(),
        _ answer: @escaping @Sendable (HTTPPeer.Heard) -> HTTPPeer.Answer
    ) async throws -> (error: ClientError?, heard: [HTTPPeer.Heard]) {
        let peer = try Self.peer(answer)
        defer { peer.stop() }
        let client = try await Self.connect("http://\(peer.endpoint)/mcp", options)
        let error = await clientError {
            _ = try await client.request(
                "tools/call", ["name": "x"], options: CallOptions(timeout: .seconds(20)))
        }
        await client.close()
        return (error, peer.heard)
    }

    @Test(arguments: [
        ProtocolVersion.v2026_07_28, .v2025_11_25, .v2025_06_18, .v2025_03_26, .v2024_11_05,
    ])
    func everyRevision(_ version: ProtocolVersion) async throws {
        try await TestServer().server.withPort { port in
            var options = ClientOptions()
            options.protocol = .exactly(version)
            let client = try await MCPClient.connect(
                .http(try #require(URL(string: "http://127.0.0.1:\(port)/mcp"))), options: options)
            #expect(client.protocolVersion == version)
            #expect(
                try await client.callTool("echo", ["text": "über → \u{1F600}"]).text == "über → \u{1F600}")
            #expect(try await client.call("add", ["a": 2, "b": 40], as: Int.self) == 42)
            await client.close()
        }
    }

    @Test func manyCallsAtOnceAndLargeOnes() async throws {
        try await TestServer().server.withPort { port in
            let client = try await Self.connect("http://127.0.0.1:\(port)/mcp")
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0 ..< 24 {
                    let text = String(repeating: "\(number) ", count: number * 2_000 + 1)
                    group.addTask { try await client.callTool("echo", ["text": .string(text)]).text == text }
                }
                for try await isEqual in group { #expect(isEqual) }
            }
            await client.close()
        }
    }

    /// Progress is delivered while the call runs: the call ends only after the client has seen it.
    @Test func eventsArriveBeforeTheEnd() async throws {
        let seen = Gate()
        let server = MCPServer("streams", version: "1")
        try server.register(Tool("work", inputSchema: ["type": "object"])) { _, context in
            await context.progress(1, total: 2, message: "half")
            return .text(await seen.wait(seconds: 30) ? "seen" : "not seen")
        }
        try await server.withPort { port in
            let client = try await Self.connect("http://127.0.0.1:\(port)/mcp")
            let result = try await client.callTool(
                "work", options: CallOptions(timeout: .seconds(60), onProgress: { _ in seen.open() }))
            #expect(result.text == "seen")
            await client.close()
        }
    }

    @Test func aCancelledCallEndsAtTheServer() async throws {
        let test = try TestServer()
        try await test.server.withPort { port in
            let client = try await Self.connect("http://127.0.0.1:\(port)/mcp")
            let call = Task { try await client.callTool("wait", ["name": "cancelled"]) }
            #expect(await test.begun("cancelled").wait())
            call.cancel()
            #expect(await test.cancelled.wait())
            _ = await call.result
            await client.close()
        }
    }

    @Test func refusalsKeepTheirStatusAndChallenge() async throws {
        let (error, _) = try await outcome { _ in
            .status(401, headers: "WWW-Authenticate: Bearer resource_metadata=\"http://x/y\"\r\n")
        }
        #expect(error?.kind == .authentication)
        #expect(error?.httpStatus == 401)
        #expect(error?.details.contains { $0.contains("Bearer resource_metadata=") } == true)
    }

    @Test func redirectsAreNotFollowed() async throws {
        let other = try HTTPPeer { _ in .status(200) }
        defer { other.stop() }
        let place = "http://\(other.endpoint)/elsewhere"
        let (error, _) = try await outcome { _ in .status(307, headers: "Location: \(place)\r\n") }
        #expect(error != nil)
        #expect(other.heard.isEmpty)
    }

    @Test func nothingOfTheSessionIsSent() async throws {
        let (_, heard) = try await outcome { heard in
            .result(heard, #"{"content":[]}"#, headers: "Set-Cookie: track=1\r\n")
        }
        let last = try #require(heard.last)
        #expect(last.header("cookie") == nil)
        #expect(last.header("accept-encoding") == "identity")
        #expect(last.header("mcp-method") == "tools/call")
        #expect(last.header("mcp-protocol-version") == "2026-07-28")
        #expect(last.header("content-type") == "application/json")
    }

    @Test func aServerThatIsNotThere() async throws {
        // Port 1 is free on every machine that runs tests.
        let error = await clientError { _ = try await Self.connect("http://127.0.0.1:1/mcp") }
        #expect(error?.kind == .cannotConnect)
    }

    @Test(arguments: [
        HTTPPeer.Answer.raw("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"jsonrpc\":", then: .close),
        .raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"a\":", then: .reset),
        .raw("", then: .close),
        .raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", then: .close),
        .raw("rubbish\r\n\r\n", then: .close), .status(204), .status(500),
        .json("{\"jsonrpc\":\"2.0\"", then: .close), .events("data: {}\n\n"),
    ])
    func responsesThatAreNone(_ answer: HTTPPeer.Answer) async throws {
        let (error, _) = try await outcome { _ in answer }
        #expect(error != nil)
    }

    @Test func theLimitOfTheClientHolds() async throws {
        var options = ClientOptions()
        options.maxMessageBytes = 4_096
        let (error, _) = try await outcome(options) { heard in
            .result(
                heard, #"{"content":[{"type":"text","text":"\#(String(repeating: "x", count: 8_192))"}]}"#)
        }
        #expect(error?.kind == .protocolViolation)
    }
}
