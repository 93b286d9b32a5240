import MCPCore
import Synchronization
import TestSupport
import Testing

/// Rounds of questions in 2026-07-28: what a client may send back, and what the server makes of it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RoundsInteractionTests {
    static let forms: JSONObject = ["elicitation": [:]]
    static let ada: JSONObject = ["user_name": ["action": "accept", "content": ["name": "Ada"]]]

    private func params(
        _ responses: JSONValue?, _ state: JSONValue?, tool: String = "greet", arguments: JSONValue = [:]
    ) -> JSONObject {
        var params: JSONObject = ["name": .string(tool), "arguments": arguments]
        if let responses { params["inputResponses"] = responses }
        if let state { params["requestState"] = state }
        return params
    }

    private func firstRound(_ client: RawClient, tool: String = "greet") async throws -> JSONValue {
        let reply = await client.call(tool)
        #expect(reply.result?["resultType"]?.string == "input_required")
        return try #require(reply.result?["requestState"]?.value)
    }

    private func withForms(
        _ setting: Setting, _ asking: AskingServer, _ body: (RawClient) async throws -> Void
    ) async throws {
        try await withServer(setting, asking.server) { served in
            try await body(try await served.client(capabilities: Self.forms))
        }
    }

    // MRTR-12: without the answer that is needed it is asked again; what nobody asked for is ignored.
    @Test(arguments: Setting.modern) func missingAndUnknownAnswers(_ setting: Setting) async throws {
        try await withForms(setting, try AskingServer()) { client in
            var state = try await firstRound(client)
            for responses in [nil, [:], ["wrong": 7], ["wrong": ["action": "accept"]]] as [JSONValue?] {
                let reply = await client.request("tools/call", params(responses, state))
                #expect(reply.result?["resultType"]?.string == "input_required")
                #expect(reply.result?["inputRequests"]?["user_name"] != nil)
                #expect(reply.status == setting.status(200))
                state = try #require(reply.result?["requestState"]?.value)
            }
            // MRTR-19: one message for each, and nothing behind it.
            #expect(client.heard.count == 5)
            var answers = Self.ada
            answers["unknown"] = [1, 2, 3]
            let last = await client.request("tools/call", params(.object(answers), state))
            #expect(last.text == "Hello, Ada!")
            #expect(last.result?["resultType"]?.string == "complete")
        }
    }

    static let malformed: [JSONValue] = [
        .null, 7, "text", true, [], [["user_name": [:]]],
        ["user_name": 7], ["user_name": .null], ["user_name": []], ["user_name": "Ada"], ["user_name": [:]],
        ["user_name": ["action": 7]], ["user_name": ["action": "agree"]],
        ["user_name": ["action": "accept"]], ["user_name": ["action": "accept", "content": "Ada"]],
        // ELIC-24
        ["user_name": ["action": "accept", "content": [:]]],
        ["user_name": ["action": "accept", "content": ["name": 7]]],
        ["user_name": ["action": "accept", "content": ["name": "A"]]],
        ["user_name": ["roots": []]],
    ]

    // MRTR-12
    @Test(arguments: Setting.modern) func malformedAnswers(_ setting: Setting) async throws {
        let asking = try AskingServer()
        try await withForms(setting, asking) { client in
            for responses in Self.malformed {
                let state = try await firstRound(client)
                let reply = await client.request("tools/call", params(responses, state))
                #expect(reply.errorCode == -32602, "\(responses)")
                #expect(reply.status == setting.status(200))
                // A slip of the client does not use the state up.
                let again = await client.request("tools/call", params(.object(Self.ada), state))
                #expect(again.text == "Hello, Ada!", "\(responses)")
            }
            for state in [7, .null, [], [:], true] as [JSONValue] {
                #expect(await client.request("tools/call", params(nil, state)).errorCode == -32602)
            }
            AskingInteractionTests.expectNothingLeft(asking.server)
        }
    }

    /// A handler cannot make a result out of an answer that does not fit, and not out of a missing one.
    @Test(arguments: Setting.modern) func swallowedQuestions(_ setting: Setting) async throws {
        try await withForms(setting, try AskingServer()) { client in
            let state = try await firstRound(client, tool: "swallows")
            let answer: JSONValue = ["elicitation-1": ["action": "accept", "content": ["name": 7]]]
            let reply = await client.request("tools/call", params(answer, state, tool: "swallows"))
            #expect(reply.errorCode == -32602)
            let good: JSONValue = ["elicitation-1": ["action": "decline"]]
            let last = await client.request("tools/call", params(good, state, tool: "swallows"))
            #expect(last.text == "got decline")
        }
    }

    // MRTR-16: the client's own words about the first round need no state.
    @Test(arguments: Setting.modern) func answersWithoutState(_ setting: Setting) async throws {
        try await withForms(setting, try AskingServer()) { client in
            let reply = await client.request("tools/call", params(.object(Self.ada), nil))
            #expect(reply.text == "Hello, Ada!")
        }
    }

    // MRTR-09, MRTR-10, ELIC-21, ELIC-23
    @Test(arguments: Setting.modern) func statesOfOthers(_ setting: Setting) async throws {
        let key = [UInt8](repeating: 7, count: 32)
        let asking = try AskingServer(stateKey: key)
        try await withForms(setting, asking) { client in
            let state = try await firstRound(client)
            let text = try #require(state.stringValue)
            let answers = JSONValue.object(Self.ada)
            for bad in [text + "-TAMPERED", "", "x", String(text.dropLast()), String(text.dropFirst(2))] {
                let reply = await client.request("tools/call", params(answers, .string(bad)))
                #expect(reply.errorCode == -32602)
                #expect(reply.errorMessage?.contains("requestState") == true)
            }
            #expect(
                await client.request("tools/call", params(answers, state, arguments: ["x": 1])).errorCode
                    == -32602)
            #expect(
                await client.request("tools/call", params(answers, state, tool: "steps")).errorCode == -32602)
            let prompt = await client.request(
                "prompts/get", ["name": "ask", "inputResponses": answers, "requestState": state])
            #expect(prompt.errorCode == -32602)
            // No handler ran for any of these.
            #expect(asking.runs.value == 1)
            // White space, order and an absent empty object are the same arguments.
            let bare: JSONObject = ["name": "greet", "inputResponses": answers, "requestState": state]
            #expect(await client.request("tools/call", bare).text == "Hello, Ada!")
        }
        // An instance without the key knows nothing about it; one with the key goes on where the first was.
        var state = JSONValue.null
        try await withForms(setting, try AskingServer(stateKey: key)) { state = try await firstRound($0) }
        try await withForms(setting, try AskingServer()) { client in
            let reply = await client.request("tools/call", params(.object(Self.ada), state))
            #expect(reply.errorCode == -32602)
        }
        try await withForms(setting, try AskingServer(stateKey: key)) { client in
            let reply = await client.request("tools/call", params(.object(Self.ada), state))
            #expect(reply.text == "Hello, Ada!")
        }
    }

    // MRTR-10
    @Test(arguments: Setting.modern) func expiredState(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.stateLifetime = .zero
        try await withForms(setting, try AskingServer(options)) { client in
            let state = try await firstRound(client)
            let reply = await client.request("tools/call", params(.object(Self.ada), state))
            #expect(reply.errorCode == -32602)
            #expect(reply.errorMessage?.contains("expired") == true)
        }
    }

    // MRTR-11: all states of a call are used up together.
    @Test(arguments: Setting.modern) func completedCallsAreNotRepeated(_ setting: Setting) async throws {
        let asking = try AskingServer()
        try await withForms(setting, asking) { client in
            let one = try await firstRound(client, tool: "steps")
            let name: JSONValue = ["elicitation-1": ["action": "accept", "content": ["name": "Ada"]]]
            let second = await client.request("tools/call", params(name, one, tool: "steps"))
            let two = try #require(second.result?["requestState"]?.value)
            #expect(two != one)
            // The answer was lost: the same round again is fine.
            let repeated = await client.request("tools/call", params(name, one, tool: "steps"))
            #expect(repeated.result?["resultType"]?.string == "input_required")
            let color: JSONValue = ["elicitation-2": ["action": "accept", "content": ["color": "red"]]]
            let last = await client.request("tools/call", params(color, two, tool: "steps"))
            #expect(last.text == "Ada likes red")
            let runs = asking.runs.value
            for (answers, state) in [(color, two), (name, one)] {
                let reply = await client.request("tools/call", params(answers, state, tool: "steps"))
                #expect(reply.errorCode == -32602)
                #expect(reply.errorMessage?.contains("used") == true)
            }
            #expect(asking.runs.value == runs)
            #expect(asking.server.probe.states == 1)
        }
    }

    // MRTR-11: one at a time; what was cancelled did not complete.
    @Test(arguments: Setting.modern) func oneRetryAtATime(_ setting: Setting) async throws {
        let asking = try AskingServer()
        try await withServer(setting, asking.server) { served in
            let client = try await served.client(capabilities: ["roots": [:]])
            let state = try await firstRound(client, tool: "slow")
            let retry = params(["r": ["roots": []]], state, tool: "slow")
            async let first = client.request("tools/call", retry, id: "first")
            #expect(await asking.begun.wait())
            let second = await client.request("tools/call", retry)
            #expect(second.errorCode == -32602)
            #expect(second.errorMessage?.contains("being served") == true)
            try await client.cancel("first")
            #expect(await first.answer == nil)
            #expect(await AskingFailureTests.eventually { asking.abandoned.value == 1 })
            #expect(await AskingFailureTests.eventually { asking.server.probe.states == 0 })
            asking.release.open()
            #expect(await client.request("tools/call", retry).text == "0")
            #expect(await client.request("tools/call", retry).errorCode == -32602)
        }
    }

    /// An earlier answer is sealed: a client cannot replace it in a later round.
    @Test(arguments: Setting.modern) func earlierAnswersStay(_ setting: Setting) async throws {
        try await withForms(setting, try AskingServer()) { client in
            let one = try await firstRound(client, tool: "steps")
            let name: JSONValue = ["elicitation-1": ["action": "accept", "content": ["name": "Ada"]]]
            let second = await client.request("tools/call", params(name, one, tool: "steps"))
            let two = try #require(second.result?["requestState"]?.value)
            let both: JSONValue = [
                "elicitation-1": ["action": "accept", "content": ["name": "Eve"]],
                "elicitation-2": ["action": "accept", "content": ["color": "red"]],
            ]
            let last = await client.request("tools/call", params(both, two, tool: "steps"))
            #expect(last.text == "Ada likes red")
        }
    }

    /// A server with one tool, `run`, which asks `question`.
    private final class Changing: Sendable {
        let server = MCPServer("changing", version: "1")
        let question = Mutex(ElicitRequest("Run old?", ElicitationSchema([])))
        let runs = Counter()

        init() throws { try define("Runs") }

        func define(_ description: String) throws {
            server.unregisterTool("run")
            let tool = Tool("run", description: description, inputSchema: ["type": "object"])
            try server.register(tool) { [weak self] _, context in
                guard let self else { throw ToolError("The test is over") }
                let request = question.withLock { $0 }
                let answer = try await context.ask(["confirm": .elicit(request)]).elicitation("confirm")
                runs.increment()
                return .text("\(request.message) \(answer.action.rawValue)")
            }
        }
    }

    // MRTR-09: what the user agreed to is what was asked, of the tool that it was asked for.
    @Test(arguments: Setting.modern) func changedQuestions(_ setting: Setting) async throws {
        let changing = try Changing()
        try await withServer(setting, changing.server) { served in
            let client = try await served.client(capabilities: ["elicitation": ["form": [:], "url": [:]]])
            func accept(_ state: JSONValue) async -> RawReply {
                await client.request(
                    "tools/call",
                    params(["confirm": ["action": "accept", "content": [:]]], state, tool: "run"))
            }
            let changes: [() throws -> Void] = [
                { changing.question.withLock { $0.message = "Run new?" } },
                { changing.question.withLock { $0.schema = ElicitationSchema([.boolean("all")]) } },
                { try changing.define("Runs something else") },
                {
                    changing.question.withLock {
                        $0 = ElicitRequest("Run new?", url: "https://example.com/1")
                    }
                },
            ]
            for (number, change) in changes.enumerated() {
                let state = try await firstRound(client, tool: "run")
                try change()
                let again = await accept(state)
                #expect(again.result?["resultType"]?.string == "input_required", "\(number)")
                #expect(changing.runs.value == number)
                let asked = again.result?["inputRequests"]?["confirm"]?["params"]?["message"]?.string
                #expect(asked == changing.question.withLock { $0.message })
                let reply = await accept(try #require(again.result?["requestState"]?.value))
                #expect(reply.text == "\(asked ?? "") accept", "\(number)")
                #expect(changing.runs.value == number + 1)
            }
            // The address of a page may be another one each time.
            let state = try await firstRound(client, tool: "run")
            changing.question.withLock { $0.url = "https://example.com/2" }
            #expect(await accept(state).text == "Run new? accept")
        }
    }

    // MRTR-11: a request that was refused for what its client cannot do uses nothing up.
    @Test(arguments: Setting.modern) func refusedRetriesUseNothingUp(_ setting: Setting) async throws {
        let server = MCPServer("needs", version: "1")
        let runs = Counter()
        try server.register(Tool("run", inputSchema: ["type": "object"])) { _, context in
            let answer = try await context.elicit("Run?", ElicitationSchema([]), key: "confirm")
            try context.require(ClientCapabilities(sampling: true))
            runs.increment()
            return .text(answer.action.rawValue)
        }
        try await withServer(setting, server) { served in
            let poor = try await served.client(capabilities: Self.forms)
            let rich = try await served.client(capabilities: ["elicitation": [:], "sampling": [:]])
            let state = try await firstRound(rich, tool: "run")
            let retry = params(["confirm": ["action": "accept"]], state, tool: "run")
            for _ in 0 ..< 2 {
                #expect(await poor.request("tools/call", retry).errorCode == -32021)
            }
            #expect(server.probe.states == 0 && runs.value == 0)
            #expect(await rich.request("tools/call", retry).text == "accept")
            #expect(await rich.request("tools/call", retry).errorCode == -32602)
            #expect(runs.value == 1)
        }
    }

    // MRTR-07
    @Test(arguments: Setting.modern) func abandonedRoundsLeaveNothing(_ setting: Setting) async throws {
        let asking = try AskingServer()
        let count = setting.leg == .http ? 300 : 2_000
        try await withForms(setting, asking) { client in
            for _ in 0 ..< count {
                let reply = await client.call("greet")
                guard reply.result?["resultType"]?.string == "input_required" else {
                    Issue.record("\(String(describing: reply.answer))")
                    return
                }
            }
            #expect(asking.server.probe.states == 0)
            #expect(asking.runs.value == count)
            AskingInteractionTests.expectNothingLeft(asking.server)
        }
    }

    // The state of a handler has its limit.
    @Test(arguments: [Setting.inMemory()]) func tooMuchState(_ setting: Setting) async throws {
        let asking = try AskingServer()
        try await withServer(setting, asking.server) { served in
            let client = try await served.client(capabilities: ["roots": [:]])
            let fits = await client.call("hoards", ["bytes": 40_000])
            #expect(fits.result?["resultType"]?.string == "input_required")
            #expect((fits.result?["requestState"]?.string?.utf8.count ?? 0) <= ServerProbe.maxStateBytes)
            for bytes in [50_000, 100_000] {
                let reply = await client.call("hoards", ["bytes": JSONValue(bytes)])
                #expect(reply.errorCode == -32603)
            }
            #expect(asking.log.count == 2)
            #expect(asking.log.allSatisfy { $0.contains("requestState") && !$0.contains("xxx") })
        }
    }
}
