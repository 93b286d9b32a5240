import MCPCore
import TestSupport
import Testing

/// One handler asks its client, in every revision over every leg (DUAL-23).
@Suite(.serialized, .timeLimit(.minutes(5))) struct AskingInteractionTests {
    static let withForms = Setting.all.filter { $0.version >= "2025-06-18" }
    static let pages = Setting.all.filter { $0.version >= "2025-11-25" }

    private static let ada: JSONObject = ["name": "Ada"]

    // ELIC-05, ELIC-10, JRPC-16, LEG-05, MRTR-01, MRTR-04
    @Test(arguments: withForms) func form(_ setting: Setting) async throws {
        let asking = try AskingServer()
        try await withAskedClient(setting, asking.server) { _ in
            .accept(Self.ada)
        } _: { client in
            let reply = await client.call("greet", id: "g")
            #expect(reply.text == "Hello, Ada!")
            #expect(reply.result?["isError"] == nil)
            let asked = try #require(client.asked.first)
            #expect(client.asked.count == 1)
            #expect(asked.method == "elicitation/create")
            #expect(asked.message == "What is your name?")
            #expect(asked.params?["requestedSchema"]?.value == AskingServer.nameForm.json)
            // ELIC-04: the mode is written where the revision has modes.
            #expect(asked.params?["mode"]?.string == (setting.version >= "2025-11-25" ? "form" : nil))
            #expect(asking.runs.value == (setting.isModern ? 2 : 1))
            if setting.isModern {
                #expect(asked.key == "user_name")
                // JRPC-16
                #expect(client.raw.heard.allSatisfy { $0["method"] == nil })
                let round = try #require(client.inputRequired.first)
                #expect(round["requestState"]?.string != nil)
                #expect(round["inputRequests"]?["user_name"]?["id"] == nil)
                #expect(round["inputRequests"]?["user_name"]?["jsonrpc"] == nil)
                #expect(round["_meta"]?["io.modelcontextprotocol/serverInfo"] != nil)
                #expect(round["ttlMs"] == nil)
                #expect(round["cacheScope"] == nil)
            } else {
                #expect(asked.id?.stringValue?.hasPrefix("srv-") == true)
                // MRTR-21
                #expect(client.raw.heard.allSatisfy { $0["result"]?["resultType"] == nil })
                // The question came before the answer, on the stream of the request.
                let order = client.raw.heard.compactMap {
                    $0["method"]?.string ?? ($0["id"]?.string == "g" ? "answer" : nil)
                }
                #expect(order == ["elicitation/create", "answer"])
            }
            Self.expectNothingLeft(asking.server)
        }
    }

    // ELIC-11
    @Test(arguments: withForms, ["decline", "cancel"])
    func refusedForm(_ setting: Setting, _ action: String) async throws {
        try await withAskedClient(setting, try AskingServer().server) { _ in
            .result(["action": .string(action)])
        } _: { client in
            #expect(await client.call("greet").text == "You said \(action)")
        }
    }

    // The code of such an error is about the question, and not about the request that is being served.
    @Test(arguments: withForms.filter { !$0.isModern }) func anErrorOfTheClient(_ setting: Setting)
        async throws
    {
        try await withAskedClient(setting, try AskingServer().server) { _ in
            .error(code: -32603, "no terminal")
        } _: { client in
            let reply = await client.call("greet")
            #expect(reply.text == "The client answered elicitation/create with an error: no terminal")
        }
    }

    // SAMP-04, SAMP-07
    @Test(arguments: Setting.all) func sampling(_ setting: Setting) async throws {
        try await withAskedClient(setting, try AskingServer().server) { _ in
            .said("Paris")
        } _: { client in
            #expect(await client.call("capital").text == "Paris")
            let asked = try #require(client.asked.first)
            #expect(asked.method == "sampling/createMessage")
            #expect(asked.params?["maxTokens"]?.int == 100)
            let content = asked.params?["messages"]?.elements?.first?["content"]
            #expect(content?["text"]?.string == "What is the capital of France?")
            #expect(asked.key == (setting.isModern ? "sampling-1" : nil))
        }
    }

    // ROOT-02
    @Test(arguments: Setting.all) func roots(_ setting: Setting) async throws {
        try await withAskedClient(setting, try AskingServer().server) { _ in
            .roots("file:///a", "file:///b")
        } _: { client in
            #expect(await client.call("where").text == "file:///a,file:///b")
            #expect(client.asked.map(\.method) == ["roots/list"])
        }
    }

    @Test(arguments: withForms) func severalAtOnce(_ setting: Setting) async throws {
        try await withAskedClient(setting, try AskingServer().server) { asked in
            switch asked.method {
            case "elicitation/create": .accept(Self.ada)
            case "roots/list": .roots("file:///r")
            default: .said("Hi")
            }
        } _: { client in
            #expect(await client.call("all").text == #"Hi Ada ["file:///r"]"#)
            #expect(client.asked.count == 3)
            // MRTR-13: one round for all of them.
            #expect(client.inputRequired.count == (setting.isModern ? 1 : 0))
        }
    }

    // Questions of child tasks stand in one round as well.
    @Test(arguments: Setting.all) func questionsAtTheSameTime(_ setting: Setting) async throws {
        try await withAskedClient(setting, try AskingServer().server) { asked in
            asked.method == "roots/list" ? .roots("file:///r") : .said("Hi")
        } _: { client in
            #expect(await client.call("without_forms").text == "Hi 1")
            #expect(client.asked.count == 2)
        }
    }

    // MRTR-08, MRTR-16
    @Test(arguments: withForms) func oneAfterTheOther(_ setting: Setting) async throws {
        let asking = try AskingServer()
        try await withAskedClient(setting, asking.server) { asked in
            asked.message == "Step 1" ? .accept(Self.ada) : .accept(["color": "blue"])
        } _: { client in
            #expect(await client.call("steps").text == "Ada likes blue")
            #expect(client.asked.map(\.message) == ["Step 1", "Step 2, Ada"])
            #expect(asking.runs.value == (setting.isModern ? 3 : 1))
            guard setting.isModern else { return }
            #expect(client.asked.map(\.key) == ["elicitation-1", "elicitation-2"])
            let states = client.inputRequired.compactMap { $0["requestState"]?.string }
            #expect(Set(states).count == 2)
        }
    }

    @Test(arguments: withForms) func handlerState(_ setting: Setting) async throws {
        try await withAskedClient(setting, try AskingServer().server) { _ in
            .accept(["ok": true])
        } _: {
            client in
            let before = setting.isModern ? "half-done" : "nothing"
            #expect(await client.call("keeps").text == "\(before), half-done, true")
        }
    }

    // ELIC-06, ELIC-12, ELIC-13
    @Test(arguments: pages) func page(_ setting: Setting) async throws {
        try await withAskedClient(setting, try AskingServer().server) { _ in
            .result(["action": "accept"])
        } _: { client in
            #expect(await client.call("page").text == "accept")
            let params = try #require(client.asked.first?.params)
            #expect(params["mode"]?.string == "url")
            #expect(params["url"]?.string == "https://example.com/in?x=1")
            let done = client.raw.heard.filter {
                $0["method"]?.string == "notifications/elicitation/complete"
            }
            if setting.isModern {
                #expect(params["elicitationId"] == nil)
                #expect(done.isEmpty)
            } else {
                #expect(params["elicitationId"]?.string?.count == 32)
                #expect(done.map { $0["params"]?["elicitationId"]?.string } == ["visit-1"])
            }
        }
    }

    // MRTR-02: the three methods that may ask.
    @Test(arguments: withForms) func promptsAndResources(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.readTTL = .seconds(60)
        try await withAskedClient(setting, try AskingServer(options).server) { _ in
            .accept(Self.ada)
        } _: { client in
            let prompt = await client.request("prompts/get", ["name": "ask"])
            #expect(prompt.result?["messages"]?.elements?.first?["content"]?["text"]?.string == "Ada")
            let read = await client.request("resources/read", ["uri": "mem://asked"])
            #expect(read.result?["contents"]?.elements?.first?["text"]?.string == "Ada")
            guard setting.isModern else { return }
            // What depends on an answer is for nobody else, and not for later.
            #expect(read.result?["ttlMs"]?.int == 0)
            #expect(read.result?["cacheScope"]?.string == "private")
            #expect(client.asked.map(\.key) == ["user_context", "whose"])
        }
    }

    // MRTR-02: others may not, and say so.
    @Test(arguments: [Setting.inMemory()]) func otherMethodsDoNotAsk(_ setting: Setting) async throws {
        let asking = try AskingServer()
        asking.server.addCompletion(.prompt("ask"), "name") { _, context in
            CompletionResult([try await context.roots().description])
        }
        try await withAskedClient(setting, asking.server) { _ in
            .roots()
        } _: { client in
            let params: JSONObject = [
                "ref": ["type": "ref/prompt", "name": "ask"], "argument": ["name": "name", "value": ""],
                "inputResponses": 7, "requestState": [],
            ]
            let reply = await client.request("completion/complete", params)
            #expect(reply.errorCode == -32603)
            #expect(client.asked.isEmpty)
            // Elsewhere these two are unknown members (JRPC-23).
            let list = await client.request("tools/list", ["inputResponses": 7, "requestState": []])
            #expect(list.result?["tools"] != nil)
        }
    }

    // MRTR-13, MRTR-14: our own client and our own server.
    @Test(arguments: ProtocolVersion.known, [Leg.inMemory, .http])
    func ownClient(_ version: ProtocolVersion, _ leg: Leg) async throws {
        let asking = try AskingServer()
        let served = try ServedServer(Setting(leg: leg, version: version.text), asking.server)
        var options = ClientOptions()
        options.protocol = .exactly(version)
        options.onElicit = { request in
            request.message == "Step 1" ? .accept(Self.ada) : .accept(["color": "blue", "name": "Bo"])
        }
        options.onSample = { _ in CreateMessageResult(content: [.text("Paris")], model: "m") }
        options.onRoots = { [Root("file:///here")] }
        let target =
            leg == .http
            ? ClientTarget.http("http://127.0.0.1:\(try served.port())/mcp") : .inProcess(asking.server)
        let client = try await MCPClient.connect(target, options: options)
        #expect(try await client.callTool("capital").text == "Paris")
        #expect(try await client.callTool("where").text == "file:///here")
        if version.text >= "2025-06-18" {
            #expect(try await client.callTool("steps").text == "Ada likes blue")
            #expect(try await client.callTool("all").text == #"Paris Bo ["file:///here"]"#)
        }
        await client.close()
        await served.stop()
        Self.expectNothingLeft(asking.server)
    }

    static func expectNothingLeft(_ server: MCPServer, _ location: SourceLocation = #_sourceLocation) {
        #expect(server.probe.questions == 0, sourceLocation: location)
        #expect(server.probe.requests == 0, sourceLocation: location)
    }
}
