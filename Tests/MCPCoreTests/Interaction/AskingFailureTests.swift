import MCPCore
import Synchronization
import TestSupport
import Testing

/// Questions that are not answered as they should be.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AskingFailureTests {
    // CAP-01, CAP-02, MRTR-05, MRTR-06, ELIC-03, SAMP-02
    static let undeclared: [(capabilities: JSONObject, tool: String, required: JSONValue)] = [
        ([:], "greet", ["elicitation": ["form": [:]]]),
        (["sampling": [:], "roots": [:]], "greet", ["elicitation": ["form": [:]]]),
        (["elicitation": ["url": [:]]], "greet", ["elicitation": ["form": [:]]]),
        (["elicitation": [:]], "page", ["elicitation": ["url": [:]]]),
        (["elicitation": [:]], "capital", ["sampling": [:]]),
        (["elicitation": [:]], "needs_sampling", ["sampling": [:]]),
        (["sampling": [:]], "where", ["roots": [:]]),
        (["sampling": [:]], "all", ["elicitation": ["form": [:]], "roots": [:]]),
    ]

    @Test(arguments: Setting.all, undeclared.indices)
    func undeclaredCapability(_ setting: Setting, _ index: Int) async throws {
        let (capabilities, tool, required) = Self.undeclared[index]
        // Before the modes, whoever declared elicitation showed forms.
        if setting.version == "2025-06-18", capabilities["elicitation"] != nil, tool == "greet" { return }
        try await withAskedClient(setting, try AskingServer().server, capabilities: capabilities) { _ in
            .error(code: 1, "must not be asked")
        } _: { client in
            let reply = await client.call(tool)
            if setting.isModern {
                #expect(reply.errorCode == MCPError.missingClientCapabilityCode)
                #expect(reply.answer?["error"]?["data"]?["requiredCapabilities"]?.value == required)
                #expect(reply.status == setting.status(400))
            } else {
                // TOOL-18: something for the model to read.
                #expect(reply.result?["isError"]?.bool == true)
                for (name, _) in required.objectValue ?? [:] where setting.version >= "2025-11-25" {
                    #expect(reply.text.contains(name))
                }
            }
            // Never a question that the client cannot answer.
            #expect(client.asked.isEmpty)
        }
    }

    @Test(arguments: Setting.all) func undeclaredInPromptsAndResources(_ setting: Setting) async throws {
        try await withAskedClient(setting, try AskingServer().server, capabilities: [:]) { _ in
            .silence
        } _: { client in
            for (method, params) in [
                ("prompts/get", ["name": "ask"]), ("resources/read", ["uri": "mem://asked"]),
            ] as [(String, JSONObject)] {
                let reply = await client.request(method, params)
                #expect(reply.errorCode == (setting.isModern ? -32021 : -32602))
                #expect(reply.errorMessage?.contains("elicitation") == true)
                #expect(reply.status == setting.status(400))
            }
        }
    }

    /// A handler may do without what the client does not offer.
    @Test(arguments: Setting.all) func fallingBack(_ setting: Setting) async throws {
        try await withAskedClient(setting, try AskingServer().server, capabilities: [:]) { _ in
            .silence
        } _: { client in
            #expect(await client.call("falls_back").text == "without a name")
        }
    }

    // SAMP-15: an error of the client is the handler's to deal with, and never the answer's code.
    @Test(arguments: Setting.legacy) func clientErrors(_ setting: Setting) async throws {
        try await withAskedClient(setting, try AskingServer().server) { _ in
            .error(code: -32601, "No roots here")
        } _: { client in
            #expect(await client.call("code").text == "-32601 No roots here")
            let reply = await client.call("where")
            #expect(reply.result?["isError"]?.bool == true)
            #expect(reply.text.contains("roots/list"))
            #expect(reply.text.contains("No roots here"))
        }
    }

    static let misfits: [JSONValue] = [
        [:], ["roots": 7], ["roots": [7]], ["roots": [["name": "x"]]], 7, .null, [], "text",
    ]

    // ELIC-24
    @Test(arguments: Setting.legacy) func answersThatDoNotFit(_ setting: Setting) async throws {
        for misfit in Self.misfits {
            try await withAskedClient(setting, try AskingServer().server) { _ in
                .result(misfit)
            } _: { client in
                #expect(await client.call("code").text.hasPrefix("-32602 "))
                let reply = await client.call("where")
                #expect(reply.result?["isError"]?.bool == true)
            }
        }
    }

    // CANC-11: when the request is cancelled, so is the question.
    @Test(arguments: Setting.legacy) func cancelledWhileAsking(_ setting: Setting) async throws {
        let asking = try AskingServer()
        let asked = Gate()
        try await withAskedClient(setting, asking.server) { _ in
            asked.open()
            return .silence
        } _: { client in
            async let reply = client.call("waits", id: "w")
            #expect(await asked.wait())
            let question = try #require(client.asked.first?.id)
            await client.raw.notify("notifications/cancelled", ["requestId": "w"])
            let taken = await Self.eventually {
                client.raw.heard.contains {
                    $0["method"]?.string == "notifications/cancelled"
                        && $0["params"]?["requestId"]?.value == question
                }
            }
            #expect(taken)
            #expect(await Self.eventually { asking.abandoned.value == 1 })
            #expect(await Self.eventually { asking.server.probe.requests == 0 })
            try await client.raw.hangUp("w")
            #expect(await reply.answer == nil)
            // A late answer is nobody's.
            await client.respond(question, ["result": ["roots": []]])
            let probe = asking.server.probe
            #expect(await Self.eventually { probe.strayResponses == 1 })
            AskingInteractionTests.expectNothingLeft(asking.server)
        }
    }

    // The time that the user takes is not the handler's, and has a limit of its own.
    @Test(arguments: Setting.legacy) func unansweredQuestion(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.limits.inputTimeout = .milliseconds(60)
        let asking = try AskingServer(options)
        try await withAskedClient(setting, asking.server) { _ in
            .silence
        } _: { client in
            let reply = await client.call("waits", id: "w")
            #expect(reply.errorCode == MCPError.deadlineExceededCode)
            #expect(reply.errorMessage?.contains("question") == true)
            #expect(await Self.eventually { asking.abandoned.value == 1 })
            let question = try #require(client.asked.first?.id)
            let order = client.raw.heard.compactMap { message -> String? in
                if message["id"]?.value == question { return "question" }
                if message["params"]?["requestId"]?.value == question { return "taken back" }
                return message["id"]?.string == "w" ? "answer" : nil
            }
            #expect(order == ["question", "taken back", "answer"])
            #expect(await Self.eventually { asking.server.probe.requests == 0 })
            AskingInteractionTests.expectNothingLeft(asking.server)
        }
    }

    @Test(arguments: Setting.legacy.filter { $0.version == "2025-11-25" })
    func deadlineRestsWhileAsking(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.limits.requestDeadline = .seconds(2)
        let asking = try AskingServer(options)
        let late = Gate()
        try await withAskedClient(setting, asking.server) { _ in
            // Longer than the handler may take.
            await late.wait(seconds: 3)
            return .roots("file:///late")
        } _: { client in
            #expect(await client.call("where").text == "file:///late")
        }
    }

    @Test(arguments: Setting.all) func tooManyQuestions(_ setting: Setting) async throws {
        let asking = try AskingServer()
        try await withAskedClient(setting, asking.server) { _ in
            .roots()
        } _: { client in
            let limit = asking.server.probe.limits.maxOpenQuestions
            #expect(await client.call("many", ["count": JSONValue(limit)]).text == "done")
            #expect(client.asked.count == limit)
            #expect(await client.call("many", ["count": JSONValue(limit + 1)]).errorCode == -32603)
            #expect(client.asked.count == limit)
            #expect(await client.call("many", ["count": 0]).text == "done")
            AskingInteractionTests.expectNothingLeft(asking.server)
        }
    }

    // JRPC-17, SEC: an answer counts only when it comes from whoever was asked.
    @Test(arguments: Setting.legacy) func answersOfOthers(_ setting: Setting) async throws {
        let asking = try AskingServer()
        let asked = Gate()
        try await withServer(setting, asking.server) { served in
            let raw = try await served.client(capabilities: AskedClient.everything)
            let client = AskedClient(raw) { _ in
                asked.open()
                return .silence
            }
            let other = AskedClient(try await served.client(capabilities: AskedClient.everything)) { _ in
                .roots("file:///other")
            }
            async let reply = client.call("where", id: "same")
            #expect(await asked.wait())
            let question = try #require(client.asked.first?.id)
            let probe = asking.server.probe
            await other.respond(question, ["result": ["roots": [["uri": "file:///evil"]]]])
            #expect(await Self.eventually { probe.strayResponses == 1 })
            // The same id in use by another client is another request (CVE-2026-25536).
            #expect(await other.call("where", id: "same").text == "file:///other")
            // Of the right client, but not the right id: the type counts too (JRPC-05).
            for id in ["srv-0", 1, .null, "nonsense"] as [JSONValue] {
                await client.respond(id, ["result": ["roots": []]])
            }
            if setting.leg == .http {
                let stateless = await (try served.silentClient()).send(
                    text: #"{"jsonrpc":"2.0","id":\#(question.serialized()),"result":{"roots":[]}}"#)
                #expect(stateless.status == 400)
            }
            let accepted = await client.respond(question, ["result": ["roots": [["uri": "file:///mine"]]]])
            // LEG-03
            if setting.leg == .http { #expect(accepted.status == 202) }
            #expect(await reply.text == "file:///mine")
            // Once is enough.
            let before = probe.strayResponses
            await client.respond(question, ["result": ["roots": []]])
            #expect(await Self.eventually { probe.strayResponses == before + 1 })
            AskingInteractionTests.expectNothingLeft(asking.server)
        }
    }

    // LEG-26: with its session a question ends as well.
    @Test(arguments: Setting.legacy) func closedConversation(_ setting: Setting) async throws {
        let asking = try AskingServer()
        let asked = Gate()
        let served = try ServedServer(setting, asking.server)
        let client = AskedClient(try await served.client(capabilities: AskedClient.everything)) { _ in
            asked.open()
            return .silence
        }
        async let reply = client.call("waits", id: "w")
        #expect(await asked.wait())
        if setting.leg == .http {
            let session = try #require(client.raw.sessionID)
            let socket = try WireSocket(port: try served.port())
            socket.send("DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Session-Id: \(session)\r\n\r\n")
            var reader = WireReader(socket)
            #expect(reader.response()?.status == 204)
        } else if setting.leg == .inMemory {
            asking.server.probe.failAll("stopping")
        } else {
            try await client.raw.hangUp("w")
            asking.server.probe.failAll("stopping")
        }
        #expect(await Self.eventually { asking.abandoned.value == 1 })
        #expect(await Self.eventually { asking.server.probe.requests == 0 })
        AskingInteractionTests.expectNothingLeft(asking.server)
        await served.stop()
        _ = await reply
    }

    // LEG-02: batches of 2025-03-26 may hold answers, and what they hold may ask.
    @Test(arguments: Setting.all.filter { $0.version == "2025-03-26" })
    func batches(_ setting: Setting) async throws {
        let asking = try AskingServer()
        let asked = Gate()
        try await withAskedClient(setting, asking.server) { question in
            if question.method == "roots/list" { asked.open() }
            return .silence
        } _: { client in
            let call = #"{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"where"}}"#
            let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#
            async let reply = client.raw.send(text: "[\(call),\(ping)]", id: "b")
            #expect(await asked.wait())
            let question = try #require(client.asked.first?.id)
            let answer = #"{"jsonrpc":"2.0","id":\#(question.serialized()),"result":{"roots":[]}}"#
            let accepted = await client.raw.send(text: "[\(answer)]")
            if setting.leg == .http { #expect(accepted.status == 202) }
            let answered = await Self.eventually {
                client.raw.heard.contains { $0.elements?.count == 2 }
            }
            #expect(answered)
            try await client.raw.hangUp("b")
            _ = await reply
            AskingInteractionTests.expectNothingLeft(asking.server)
        }
    }

    // STDIO: a question does not stop the reading of its own pipe.
    @Test(arguments: Setting.legacy.filter { $0.leg == .stdio })
    func askingAmongManyRequests(_ setting: Setting) async throws {
        let asking = try AskingServer()
        asking.server.addTool("add", "Adds", Argument("a")) { (a: Int) in "\(a + 1)" }
        try await withAskedClient(setting, asking.server) { _ in
            .roots("file:///r")
        } _: { client in
            await withTaskGroup(of: Bool.self) { group in
                for number in 0 ..< 100 {
                    group.addTask {
                        await client.call("add", ["a": JSONValue(number)]).text == "\(number + 1)"
                    }
                    if number % 10 == 0 {
                        group.addTask { await client.call("where").text == "file:///r" }
                    }
                }
                for await isRight in group { #expect(isRight) }
            }
            #expect(client.asked.count == 10)
            AskingInteractionTests.expectNothingLeft(asking.server)
        }
    }

    /// Looks again and again, for at most ten seconds.
    static func eventually(_ condition: () -> Bool) async -> Bool {
        let clock = ContinuousClock()
        let limit = clock.now + .seconds(10)
        while clock.now < limit {
            if condition() { return true }
            await Task.yield()
        }
        return condition()
    }
}
