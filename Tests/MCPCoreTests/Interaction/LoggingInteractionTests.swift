import MCPCore
import TestSupport
import Testing

/// Log messages to clients, in every revision over every leg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LoggingInteractionTests {
    private static let levelKey = "io.modelcontextprotocol/logLevel"
    private static let levels = LoggingLevel.allCases.map(\.rawValue)

    /// One message of each level, then the answer.
    private static func server(_ options: ServerOptions = ServerOptions()) throws -> MCPServer {
        let server = MCPServer("logs", version: "1", options: options)
        let anything: JSONValue = ["type": "object"]
        try server.register(Tool("all", inputSchema: anything)) { _, context in
            for level in LoggingLevel.allCases {
                await context.log(level, ["at": .string(level.rawValue)], logger: "unit")
            }
            return .text("done")
        }
        try server.register(Tool("many", inputSchema: anything)) { call, context in
            for number in 0 ..< (call.arguments["count"]?.int ?? 0) {
                await context.log(.info, JSONValue(number))
            }
            return .text("done")
        }
        try server.register(Resource("mem://a", name: "a")) { context in
            await context.log(.error, "read")
            return [.text("a", uri: "mem://a")]
        }
        return server
    }

    private static func messages(_ client: RawClient) -> [RawJSON] {
        client.heard.filter { $0["method"]?.string == "notifications/message" }
    }

    private static func heardLevels(_ client: RawClient) -> [String] {
        messages(client).compactMap { $0["params"]?["level"]?.string }
    }

    // LOG-01
    @Test(arguments: Setting.all) func capability(_ setting: Setting) async throws {
        try await withServer(setting, MCPServer("empty", version: "1")) { served in
            let client = try served.silentClient()
            let reply = await client.request(
                setting.isModern ? "server/discover" : "initialize",
                ["protocolVersion": .string(setting.version)])
            #expect(reply.result?["capabilities"]?.value == ["logging": [:]])
        }
    }

    // META-09, LOG-02, LOG-03, LOG-06, META-14, STDIO-10
    @Test(arguments: Setting.modern, [nil, "debug", "notice", "error", "emergency"])
    func perRequest(_ setting: Setting, _ level: String?) async throws {
        try await withClient(setting, try Self.server()) { client in
            var meta = JSONObject()
            if let level { meta[Self.levelKey] = .string(level) }
            let reply = await client.request("tools/call", ["name": "all", "_meta": .object(meta)], id: "l")
            #expect(reply.text == "done")
            let wanted = level.flatMap { Self.levels.firstIndex(of: $0) }.map { Array(Self.levels[$0...]) }
            #expect(Self.heardLevels(client) == wanted ?? [])
            // The answer is the last that comes, and a request that asks for nothing gets nothing.
            #expect(client.heard.last?["id"]?.string == "l")
            let first = Self.messages(client).first?["params"]
            #expect(first?["logger"]?.string == (level == nil ? nil : "unit"))
            #expect(first?["data"]?["at"]?.string == level)
            #expect(first?["_meta"] == nil)
            let count = Self.messages(client).count
            #expect(await client.request("tools/call", ["name": "all"]).text == "done")
            #expect(await client.request("resources/read", ["uri": "mem://a"]).result != nil)
            #expect(Self.messages(client).count == count)
            let read = await client.request(
                "resources/read", ["uri": "mem://a", "_meta": .object([Self.levelKey: "error"])])
            #expect(read.result != nil)
            #expect(Self.messages(client).count == count + 1)
            if setting.leg == .http {
                #expect(read.headers["content-type"]?.hasPrefix("text/event-stream") == true)
            }
        }
    }

    // LOG-05, ERR-13: the whole request is refused, whatever it is.
    @Test(arguments: Setting.modern, ["verbose", "INFO", "", 3, .null, [:]] as [JSONValue])
    func unknownLevel(_ setting: Setting, _ level: JSONValue) async throws {
        try await withClient(setting, try Self.server()) { client in
            for (method, params) in [
                ("tools/call", ["name": "all"]), ("tools/list", [:]), ("resources/read", ["uri": "mem://a"]),
                ("server/discover", [:]),
            ] as [(String, JSONObject)] {
                var params = params
                params["_meta"] = .object([Self.levelKey: level])
                let reply = await client.request(method, params)
                #expect(reply.errorCode == -32602)
                #expect(reply.errorMessage?.contains("emergency") == true)
                #expect(reply.status == setting.status(200))
            }
            #expect(Self.messages(client).isEmpty)
        }
    }

    // LOG-07: info until somebody says otherwise; each session for itself.
    @Test(arguments: Setting.legacy) func perSession(_ setting: Setting) async throws {
        try await withServer(setting, try Self.server()) { served in
            let (client, other) = (try await served.client(), try await served.client())
            #expect(await client.call("all").text == "done")
            #expect(Self.heardLevels(client) == Array(Self.levels[1...]))
            let reply = await client.request("logging/setLevel", ["level": "critical"])
            #expect(reply.result?.value == [:])
            // What a modern request says means nothing here.
            let call: JSONObject = ["name": "all", "_meta": .object([Self.levelKey: "nonsense"])]
            #expect(await client.request("tools/call", call, id: "l").text == "done")
            #expect(Self.heardLevels(client).suffix(3) == ["critical", "alert", "emergency"])
            #expect(Self.heardLevels(client).count == 10)
            #expect(client.heard.last?["id"]?.string == "l")
            #expect(await other.call("all").text == "done")
            #expect(Self.heardLevels(other).count == 7)
            await client.request("logging/setLevel", ["level": "debug"])
            #expect(await client.call("all").text == "done")
            #expect(Self.heardLevels(client).count == 18)
        }
    }

    // LOG-07, ERR-13
    @Test(arguments: Setting.legacy) func levelsThatAreNone(_ setting: Setting) async throws {
        try await withClient(setting, try Self.server()) { client in
            for params in [["level": "verbose"], ["level": "Info"], ["level": 3], ["level": .null], ["x": 1]]
                as [JSONObject]
            {
                let reply = await client.request("logging/setLevel", params)
                #expect(reply.errorCode == -32602)
                #expect(reply.status == setting.status(200))
            }
            #expect(await client.call("all").text == "done")
            #expect(Self.heardLevels(client).count == 7)
        }
    }

    // LOG-08
    @Test(arguments: Setting.all) func limit(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.limits.maxLogMessages = 20
        try await withClient(setting, try Self.server(options)) { client in
            let meta: JSONValue = .object([Self.levelKey: "info"])
            for (count, expected) in [(19, 19), (20, 20), (21, 21), (50, 21)] {
                let before = Self.messages(client).count
                let reply = await client.request(
                    "tools/call",
                    ["name": "many", "arguments": ["count": JSONValue(count)], "_meta": meta],
                    id: "n\(count)" as JSONValue?)
                #expect(reply.text == "done")
                let heard = Self.messages(client).dropFirst(before)
                #expect(heard.count == expected)
                if count > 20 {
                    let last = heard.last?["params"]
                    #expect(last?["level"]?.string == "warning")
                    #expect(
                        last?["data"]?.string
                            == "\(count - 20) more messages from this request were held back")
                }
            }
        }
    }
}
