import MCPCore
import TestSupport
import Testing

#if os(Linux)
import Glibc

/// Sessions of older clients at several programs: with the same key, any of them serves them, also after its
/// restart.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SharedKeyTests {
    private struct Place {
        let directory: TemporaryDirectory
        var file: String { "\(directory.path)/mcp.jsonc" }

        init(key: Character?) throws {
            directory = try TemporaryDirectory()
            let state = key == nil ? "" : #""state": { "key": "${file:state.key}" }, "#
            if let key { try directory.write("state.key", String(repeating: key, count: 48)) }
            try directory.write("mcp.jsonc", #"{ \#(state)"tools": { "t": { "exec": ["true"] } } }"#)
        }

        func start() async throws -> WatchedProgram {
            try await WatchedProgram(["-c", file, "--listen", "127.0.0.1:0"])
        }
    }

    private static let types = [
        ("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"),
    ]

    private static func open(_ program: WatchedProgram) async throws -> String {
        let body =
            #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#
            + #""capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#
        let answer = try await PlainHTTP.send(
            "POST", "/mcp", port: try #require(program.port), headers: types, body: body)
        return try #require(answer.headers["mcp-session-id"], "\(answer)")
    }

    /// The status of a list, and the tools in it.
    private static func list(_ session: String, _ program: WatchedProgram) async throws -> (Int, Int?) {
        let headers = types + [("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")]
        let answer = try await PlainHTTP.send(
            "POST", "/mcp", port: try #require(program.port), headers: headers,
            body: #"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#)
        let tools = try? JSONValue(parsing: answer.text)["result"]?["tools"]?.arrayValue
        return (answer.status, tools?.count)
    }

    @Test func anyProgramWithTheKeyServesASession() async throws {
        let (place, twin, stranger) = (try Place(key: "k"), try Place(key: "k"), try Place(key: "o"))
        let first = try await place.start()
        let session = try await Self.open(first)
        #expect(try await Self.list(session, first) == (200, 1))
        let second = try await twin.start()
        #expect(try await Self.list(session, second) == (200, 1))
        first.signal(SIGKILL)
        _ = await first.wait()
        let again = try await place.start()
        #expect(try await Self.list(session, again) == (200, 1))
        let other = try await stranger.start()
        #expect(try await Self.list(session, other).0 == 404)
        // Ended where its client has ended it; a store would tell the others.
        let end = try await PlainHTTP.send(
            "DELETE", "/mcp", port: try #require(again.port), headers: [("Mcp-Session-Id", session)])
        #expect(end.status == 200 || end.status == 204, "\(end)")
        #expect(try await Self.list(session, again).0 == 404)
        for program in [second, again, other] { await program.stop() }
    }

    /// Without a key, 404 tells the client to begin again.
    @Test func withoutAKeyARestartEndsSessions() async throws {
        let place = try Place(key: nil)
        let first = try await place.start()
        let session = try await Self.open(first)
        #expect(try await Self.list(session, first) == (200, 1))
        await first.stop()
        let again = try await place.start()
        #expect(try await Self.list(session, again).0 == 404)
        await again.stop()
    }
}
#endif
