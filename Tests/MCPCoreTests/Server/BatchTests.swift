import MCPCore
import Synchronization
import TestSupport
import Testing

/// Batches exist in 2025-03-26 and nowhere else.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BatchTests {
    private static let legs = Leg.allCases.map { Setting(leg: $0, version: "2025-03-26") }

    private static func call(_ id: String, _ tool: String, _ arguments: String = #"{"a":1}"#) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
    }

    private static let note =
        #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#

    /// The answers of a batch by id; a batch on stdio has no id of its own, so its answer is looked for.
    private static func answers(_ client: RawClient, _ text: String) async -> [JSONValue]? {
        let reply = await client.send(text: text)
        if client.setting.leg != .stdio { return reply.answer?.value.arrayValue }
        for _ in 0 ..< 10_000 {
            if let answers = client.heard.lazy.compactMap(\.value.arrayValue).first { return answers }
            _ = await client.call("later", ["a": 1])
        }
        return nil
    }

    // JRPC-19, LEG-02, STDIO-22
    @Test(arguments: legs) func requestsAndNotifications(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let parts = [
                Self.call("1", "add"), Self.note, Self.call(#""two""#, "later"), Self.call("3", "nope"),
                #"{"jsonrpc":"2.0","id":4,"method":"no/such"}"#, "7",
                #"{"jsonrpc":"1.0","id":5,"method":"ping"}"#,
                Self.call("6", "block", #"{"text":"x"}"#),
            ]
            let answers = try #require(await Self.answers(client, "[\(parts.joined(separator: ", "))]"))
            func answer(_ id: JSONValue) -> JSONValue? { answers.first { $0["id"] == id } }
            #expect(answers.count == 7)
            #expect(answer(1)?["result"]?["content"]?[0]?["text"] == "1")
            #expect(answer("two")?["result"]?["content"]?[0]?["text"] == "2")
            #expect(answer(3)?["error"]?["code"] == -32602)
            #expect(answer(4)?["error"]?["code"] == -32601)
            #expect(answer(5)?["error"]?["code"] == -32600)
            #expect(answer(6)?["result"]?["content"]?[0]?["text"] == "blocked x")
            // JRPC-12: what has no id is answered with null.
            #expect(answer(.null)?["error"]?["code"] == -32600)
        }
    }

    // LEG-03
    @Test(arguments: legs) func onlyNotifications(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let reply = await client.send(text: "[\(Self.note),\(Self.note)]")
            #expect(reply.answer == nil)
            #expect(reply.status == setting.status(202, legacy: 202))
            #expect(await client.call("add", ["a": 1]).text == "1")
            #expect(client.heard.allSatisfy { $0.value.arrayValue == nil })
        }
    }

    // LIFE-09
    @Test(arguments: legs) func initializeStandsAlone(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let initialize =
                #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#
            let answers = try #require(await Self.answers(client, "[\(initialize)]"))
            #expect(answers.first?["error"]?["code"] == -32600)
            #expect(answers.first?["id"] == 1)
        }
    }

    @Test(arguments: ["[]", "[" + Array(repeating: "1", count: 65).joined(separator: ",") + "]"])
    func emptyAndTooLong(_ text: String) async throws {
        try await withClient(.inMemory("2025-03-26"), try TestServer().server) { client in
            let reply = await client.send(text: text)
            #expect(reply.errorCode == -32600)
            #expect(reply.answer?["id"]?.isNull == true)
        }
    }

    private final class Refusals: ServerMiddleware {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func didRefuse(_ refusal: RefusedRequest) {
            lines.withLock { $0.append("\(refusal.reason.rawValue) \(refusal.code ?? 0)") }
        }
    }

    /// Whoever observes the server hears of a batch that is refused, and of each message in one.
    @Test(arguments: [
        "[]", "[" + Array(repeating: "1", count: 65).joined(separator: ",") + "]", "[7]",
        #"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}]"#,
        #"[{"jsonrpc":"1.0","id":5,"method":"ping"}]"#,
    ])
    func refusalsAreReported(_ text: String) async throws {
        let refusals = Refusals()
        var options = ServerOptions()
        options.middleware = [refusals]
        try await withClient(.inMemory("2025-03-26"), try TestServer(options).server) { client in
            _ = await client.send(text: text)
            #expect(refusals.all == ["malformed -32600"])
        }
    }

    // JRPC-20
    @Test(arguments: Setting.all.filter { $0.leg != .stdio && $0.version != "2025-03-26" })
    func otherRevisions(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let reply = await client.send(text: "[\(Self.call("1", "add"))]")
            #expect(reply.errorCode == -32600)
            #expect(reply.status == setting.status(400, legacy: 400))
            // JRPC-11, JRPC-12
            let id = reply.answer?["id"]?.bytes
            #expect(id == (setting.version < "2025-11-25" ? ByteSlice("null") : nil))
        }
    }
}
