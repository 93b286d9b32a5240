import MCPCore
import Synchronization
import TestSupport
import Testing

/// `completion/complete` in every revision over every leg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CompletionInteractionTests {
    private static let languages = ["Swift", "Python", "JavaScript", "Java", "TypeScript"]

    private static func server(_ options: ServerOptions = ServerOptions()) throws -> MCPServer {
        let server = MCPServer("completes", version: "1", options: options)
        try server.register(
            Prompt(
                "review",
                arguments: [PromptArgument("language"), PromptArgument("style"), PromptArgument("x")])
        ) { _, _ in GetPromptResult([]) }
        try server.register(ResourceTemplate("file:///{name}", name: "files")) { _, _, _ in [] }
        server.addCompletion(.prompt("review"), "language", languages)
        server.addCompletion(.prompt("review"), "style") { query, context in
            await context.log(.error, "looked up")
            let names = query.arguments.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return CompletionResult([query.value] + names, total: 7, hasMore: true)
        }
        server.addCompletion(.resource("file:///{name}"), "name") { query, _ in
            CompletionResult((0 ..< 250).map { "\(query.value)\($0)" })
        }
        return server
    }

    private static func params(
        _ ref: JSONValue, _ name: String, _ value: String, _ context: JSONValue? = nil
    ) -> JSONObject {
        var params: JSONObject = ["ref": ref, "argument": ["name": .string(name), "value": .string(value)]]
        if let context { params["context"] = context }
        return params
    }

    private static let prompt: JSONValue = ["type": "ref/prompt", "name": "review"]
    private static let template: JSONValue = ["type": "ref/resource", "uri": "file:///{name}"]

    private static func values(_ reply: RawReply) -> [String]? {
        reply.result?["completion"]?["values"]?.elements?.compactMap(\.string)
    }

    // COMP-01, CAP-11
    @Test(arguments: Setting.all) func capability(_ setting: Setting) async throws {
        try await withServer(setting, try Self.server()) { served in
            let reply = await (try served.silentClient()).request(
                setting.isModern ? "server/discover" : "initialize",
                ["protocolVersion": .string(setting.version)])
            let expected: JSONValue? = setting.version == "2024-11-05" ? .none : [:]
            #expect(reply.result?["capabilities"]?["completions"]?.value == expected)
        }
    }

    // COMP-02, COMP-04, COMP-05
    @Test(arguments: Setting.all) func fixedList(_ setting: Setting) async throws {
        try await withClient(setting, try Self.server()) { client in
            for (typed, expected) in [
                ("", Self.languages), ("ja", ["JavaScript", "Java"]),
                ("SCRIPT", ["JavaScript", "TypeScript"]),
                ("t", ["TypeScript", "Swift", "Python", "JavaScript"]), ("rust", []),
            ] {
                let reply = await client.request(
                    "completion/complete", Self.params(Self.prompt, "language", typed))
                #expect(Self.values(reply) == expected)
                #expect(reply.result?["completion"]?["hasMore"] == nil)
                #expect(reply.result?["resultType"]?.string == (setting.isModern ? "complete" : nil))
                #expect(reply.status == setting.status(200))
            }
        }
    }

    // COMP-02, COMP-03: the other arguments exist from 2025-06-18 on.
    @Test(arguments: Setting.all) func context(_ setting: Setting) async throws {
        try await withClient(setting, try Self.server()) { client in
            let context: JSONValue = ["arguments": ["language": "Swift", "a": "b"]]
            let reply = await client.request(
                "completion/complete", Self.params(Self.prompt, "style", "x", context))
            let knowsContext = setting.version >= "2025-06-18"
            #expect(Self.values(reply) == (knowsContext ? ["x", "a=b", "language=Swift"] : ["x"]))
            #expect(reply.result?["completion"]?["total"]?.int == 7)
            #expect(reply.result?["completion"]?["hasMore"]?.bool == true)
            for empty in [[:], ["arguments": .null], ["arguments": [:]], .null] as [JSONValue] {
                let reply = await client.request(
                    "completion/complete", Self.params(Self.prompt, "style", "y", empty))
                #expect(Self.values(reply) == ["y"])
            }
            for bad in [["arguments": []], ["arguments": ["a": 1]]] as [JSONValue] {
                let reply = await client.request(
                    "completion/complete", Self.params(Self.prompt, "style", "y", bad))
                #expect(reply.errorCode == (knowsContext ? -32602 : nil))
            }
        }
    }

    // COMP-04
    @Test(arguments: Setting.all) func atMostAHundred(_ setting: Setting) async throws {
        try await withClient(setting, try Self.server()) { client in
            let reply = await client.request("completion/complete", Self.params(Self.template, "name", "n"))
            #expect(Self.values(reply) == (0 ..< 100).map { "n\($0)" })
            #expect(reply.result?["completion"]?["total"]?.int == 250)
            #expect(reply.result?["completion"]?["hasMore"]?.bool == true)
        }
    }

    // COMP-05, COMP-07: an argument that nobody completes has no values; what does not exist is an error.
    @Test(arguments: Setting.all) func whatIsNotThere(_ setting: Setting) async throws {
        try await withClient(setting, try Self.server()) { client in
            for (ref, name) in [(Self.prompt, "x"), (Self.prompt, "nonsense"), (Self.template, "other")] {
                let reply = await client.request("completion/complete", Self.params(ref, name, "a"))
                #expect(Self.values(reply) == [])
            }
            let argument: JSONValue = ["name": "x", "value": ""]
            for params in [
                ["ref": ["type": "ref/prompt", "name": "none"], "argument": argument],
                ["ref": ["type": "ref/resource", "uri": "file:///{none}"], "argument": argument],
                ["ref": ["type": "ref/tool", "name": "review"], "argument": argument],
                ["ref": ["type": "ref/prompt"], "argument": argument], ["ref": 5, "argument": argument],
                ["argument": argument], ["ref": Self.prompt],
                ["ref": Self.prompt, "argument": ["name": "x"]],
                ["ref": Self.prompt, "argument": ["value": "x"]],
                ["ref": Self.prompt, "argument": ["name": "x", "value": 5]],
            ] as [JSONObject] {
                let reply = await client.request("completion/complete", params)
                #expect(reply.errorCode == -32602)
                #expect(reply.status == setting.status(200))
            }
        }
    }

    // COMP-05: without any completions the method does not exist.
    @Test(arguments: Setting.all) func notOffered(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let reply = await client.request(
                "completion/complete", Self.params(["type": "ref/prompt", "name": "greet"], "who", "a"))
            #expect(reply.errorCode == -32601)
            #expect(reply.status == setting.status(404))
        }
    }

    // CANC-08: a body has the deadline of every request.
    @Test(arguments: Setting.all) func deadline(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.limits.requestDeadline = .seconds(1)
        let server = try Self.server(options)
        let cancelled = Gate()
        server.addCompletion(.prompt("review"), "language") { _, _ in
            await Gate().wait()
            cancelled.open()
            return CompletionResult([])
        }
        server.addCompletion(.prompt("review"), "style") { _, _ in throw ToolError("secret path") }
        try await withClient(setting, server) { client in
            let late = await client.request(
                "completion/complete", Self.params(Self.prompt, "language", "s"))
            #expect(late.errorCode == MCPError.deadlineExceededCode)
            #expect(await cancelled.wait())
            let failed = await client.request("completion/complete", Self.params(Self.prompt, "style", "s"))
            #expect(failed.errorCode == -32603)
            #expect(failed.errorMessage?.contains("secret") == false)
        }
    }
}
