import MCPCore
import Synchronization
import TestSupport
import Testing

/// `handle`, `connection` and `endpoint`: the ways to serve over transports of one's own.
@Suite(.timeLimit(.minutes(5))) struct ConnectionTests {
    private static func message(_ text: String) -> [UInt8] { Array(text.utf8) }

    // JRPC-26, STDIO-19
    @Test func handleKeepsNothing() async throws {
        let server = try TestServer().server
        let answer = await server.handle(Self.message(HTTPServerTests.body("server/discover")))
        #expect(try JSONValue(parsing: answer ?? [])["result"]?["resultType"] == "complete")
        let open =
            #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#
        #expect(await server.handle(Self.message(open)) != nil)
        let list = await server.handle(Self.message(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#))
        #expect(try JSONValue(parsing: list ?? [])["error"]?["code"] == -32600)
        #expect(await server.handle(Self.message(#"{"jsonrpc":"2.0","method":"notifications/x"}"#)) == nil)
    }

    /// Nobody can be asked where requests of the server have no way.
    @Test func questionsNeedAWay() async throws {
        let asking = try AskingServer()
        let open =
            #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#
            + #""capabilities":{"roots":{}}}}"#
        let call = #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"where"}}"#
        let connection = asking.server.makeConnection()
        #expect(await connection.handle(Self.message(open)) != nil)
        let answer = await connection.handle(Self.message(call))
        #expect(try JSONValue(parsing: answer ?? [])["result"]?["isError"] == true)
        AskingInteractionTests.expectNothingLeft(asking.server)
    }

    @Test func closingCancels() async throws {
        let test = try TestServer()
        let connection = test.server.makeConnection()
        let call = HTTPServerTests.body("tools/call", #""name":"wait","arguments":{"name":"k"}"#)
        async let answer = connection.handle(Self.message(call))
        #expect(await test.begun("k").wait())
        connection.close()
        #expect(await answer == nil)
        #expect(await test.cancelled.wait())
    }

    /// Whichever comes first, nothing is left in flight.
    @Test func closingMeetsACall() async throws {
        let test = try TestServer()
        let call = Self.message(
            HTTPServerTests.body("tools/call", #""name":"wait","arguments":{"name":"k"}"#))
        for _ in 0 ..< 200 {
            let connection = test.server.makeConnection()
            async let answer = connection.handle(call)
            connection.close()
            #expect(await answer == nil)
            #expect(await connection.handle(call) == nil)
        }
        #expect(test.server.probe.requests == 0)
    }

    private static func request(_ body: String, _ method: String, name: String? = nil) throws -> HTTPRequest {
        var headers = try HeaderFields([
            "Host": "127.0.0.1", "Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
        ])
        if let name { try headers.append("Mcp-Name", name) }
        return HTTPRequest(method: "POST", target: "/mcp", headers: headers, body: Array(body.utf8))
    }

    // HTTP-09, HTTP-18, HTTP-20, HTTP-21
    @Test func aStreamedAnswer() async throws {
        let endpoint = try TestServer().server.makeEndpoint()
        let call = HTTPServerTests.body("tools/call", #""name":"steps""#)
            .replacing(#""_meta":{"#, with: #""_meta":{"progressToken":7,"#)
        let response = await endpoint.respond(to: try Self.request(call, "tools/call", name: "steps"))
        #expect(response.status == 200)
        #expect(response.headers["Content-Type"] == "text/event-stream")
        #expect(response.headers["X-Accel-Buffering"] == "no")
        #expect(response.body.bytes == nil)
        var text = ""
        for await part in response.body.parts { text += String(decoding: part, as: UTF8.self) }
        let events = text.split(separator: "\n\n").map { $0.dropFirst("data: ".count) }
        #expect(events.count == 4)
        let last = try JSONValue(parsing: String(events.last ?? ""))
        #expect(last["result"]?["content"]?[0]?["text"] == "done")
    }

    // HTTP-24: who stops reading the body cancels the request.
    @Test func droppingAStreamCancels() async throws {
        let server = MCPServer("s", version: "1")
        let cancelled = Gate()
        try server.register(Tool("t", inputSchema: ["type": "object"])) { _, context in
            await context.progress(1)
            if await !Gate().wait() { cancelled.open() }
            return .text("late")
        }
        let call = HTTPServerTests.body("tools/call", #""name":"t""#)
            .replacing(#""_meta":{"#, with: #""_meta":{"progressToken":7,"#)
        let request = try Self.request(call, "tools/call", name: "t")
        let reader = Task {
            let response = await server.makeEndpoint().respond(to: request)
            for await _ in response.body.parts { return true }
            return false
        }
        #expect(await reader.value)
        #expect(await cancelled.wait(seconds: 10))
    }

    // AMB-15
    @Test func cancellingBeforeTheFirstByte() async throws {
        let test = try TestServer()
        let call = HTTPServerTests.body("tools/call", #""name":"wait","arguments":{"name":"k"}"#)
        let request = try Self.request(call, "tools/call", name: "wait")
        let task = Task { await test.server.makeEndpoint().respond(to: request) }
        #expect(await test.begun("k").wait())
        task.cancel()
        _ = await task.value
        #expect(await test.cancelled.wait())
    }
}
