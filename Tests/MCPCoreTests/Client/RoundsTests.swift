import MCPCore
import Synchronization
import TestSupport
import Testing

/// Calls that a server answers with questions, from the client's side (basic/patterns/mrtr).
@Suite(.timeLimit(.minutes(5))) struct RoundsTests {
    private static func asks(_ requests: String?, state: String? = nil) -> ScriptedTransport.Step {
        let members = [requests.map { #""inputRequests":\#($0)"# }, state.map { #""requestState":\#($0)"# }]
        return Script.result(
            #"{"resultType":"input_required",\#(members.compactMap { $0 }.joined(separator: ","))}"#)
    }

    private static let form =
        #"{"method":"elicitation/create","params":{"message":"Name?","requestedSchema":"#
        + #"{"type":"object","properties":{"name":{"type":"string","minLength":2}},"required":["name"]}}}"#

    private static func options(_ change: (inout ClientOptions) -> Void = { _ in }) -> ClientOptions {
        var options = ClientOptions()
        options.onElicit = { _ in .accept(["name": "Ada"]) }
        options.onSample = { _ in CreateMessageResult(content: [.text("Paris")], model: "m") }
        options.onRoots = { [Root("file:///a", name: "a")] }
        change(&options)
        return options
    }

    /// Asks `steps` in their order, then answers.
    private static func peer(_ steps: [ScriptedTransport.Step], isHTTP: Bool = false) -> ScriptedTransport {
        let round = Counter()
        return Script.modern(isHTTP: isHTTP) { _ in
            let number = round.increment()
            return [number <= steps.count ? steps[number - 1] : Script.result(Script.done)]
        }
    }

    // MARK: The retry

    // MRTR-13, MRTR-14, MRTR-16, ELIC-10, SAMP-07, SAMP-12, ROOT-02: all answers, bare, under the same keys.
    @Test func everythingIsAnswered() async throws {
        let transport = Self.peer([
            Self.asks(
                #"{"a b":\#(Self.form),"s":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}},"r":{"method":"roots/list"}}"#
            )
        ])
        let client = try await MCPClient.connect(transport.target, options: Self.options())
        let result = try await client.callTool("t", ["x": [1, 2]], options: CallOptions(meta: ["k": "v"]))
        #expect(result.text == "done")
        let calls = transport.sent.suffix(2).map(\.json)
        #expect(
            calls[1]["params"]?["inputResponses"]?.value == [
                "a b": ["action": "accept", "content": ["name": "Ada"]],
                "s": [
                    "role": "assistant", "content": ["type": "text", "text": "Paris"], "model": "m",
                    "stopReason": "endTurn",
                ],
                "r": ["roots": [["uri": "file:///a", "name": "a"]]],
            ])
        // None was given, so none goes back.
        #expect(calls[1]["params"]?["requestState"] == nil)
        #expect(calls[0]["params"]?["arguments"]?.value == calls[1]["params"]?["arguments"]?.value)
        #expect(calls[0]["params"]?["name"]?.value == calls[1]["params"]?["name"]?.value)
        #expect(calls[0]["params"]?["_meta"]?["k"] != nil && calls[1]["params"]?["_meta"]?["k"] != nil)
        #expect(calls[0]["id"]?.value != calls[1]["id"]?.value)
        await client.close()
    }

    // MRTR-14, MRTR-15: the state is nobody's business and goes back as it came.
    @Test(arguments: [
        #""plain""#, #""""#, #""\u00e4\ud83d\ude00\n\"\\""#, #""{\"a\": 1 }""#, #""eyJhbGciOi.J9==""#,
    ]) func theStateIsEchoed(_ state: String) async throws {
        let transport = Self.peer([Self.asks(nil, state: state)])
        let client = try await MCPClient.connect(transport.target, options: Self.options())
        _ = try await client.callTool("t")
        let echoed = transport.sent.last?.json["params"]?["requestState"]
        let given = try RawJSON(validating: state)
        #expect(echoed?.string.map { Array($0.utf8) } == given.string.map { Array($0.utf8) })
        // MRTR-13, MRTR-20: without questions there are no answers.
        #expect(transport.sent.last?.json["params"]?["inputResponses"] == nil)
        await client.close()
    }

    /// What the first round reached, the call had, although the second was not sent.
    @Test func anUnsentRoundIsNoUnsentCall() async throws {
        let transport = Self.peer([Self.asks(nil, state: #""s""#), .failure(.unsent)], isHTTP: true)
        let client = try await MCPClient.connect(transport.target, options: Self.options())
        let error = try #require(await clientError { _ = try await client.callTool("t") })
        #expect(error.kind == .connectionClosed && !error.isUnsent)
        #expect(error.details.last == "tools/call may have been executed; it was not sent again")
        await client.close()
    }

    // MRTR-16: each round carries its own answers and state, nothing of the rounds before.
    @Test func onlyTheNewestRound() async throws {
        let transport = Self.peer([
            Self.asks(#"{"one":\#(Self.form)}"#, state: #""s1""#), Self.asks(#"{"two":\#(Self.form)}"#),
            Self.asks(nil, state: #""s3""#),
        ])
        let client = try await MCPClient.connect(transport.target, options: Self.options())
        _ = try await client.callTool("t")
        let rounds = transport.sent.suffix(3).map(\.json)
        #expect(
            rounds.map { $0["params"]?["inputResponses"]?.value.objectValue?.map(\.key) } == [
                ["one"], ["two"], nil,
            ])
        #expect(rounds.map { $0["params"]?["requestState"]?.string } == ["s1", nil, "s3"])
        await client.close()
    }

    // MRTR-17: the headers are those of the first call, worked out anew.
    @Test func headersOfTheRetry() async throws {
        let transport = Self.peer([Self.asks(#"{"q":\#(Self.form)}"#)], isHTTP: true)
        let client = try await MCPClient.connect(transport.target, options: Self.options())
        try client.probe.learn(
            #"{"tools":[{"name":"t","inputSchema":{"properties":{"r":{"type":"string","x-mcp-header":"R"}}}}]}"#
        )
        _ = try await client.callTool("t", ["r": "eu"])
        for sent in transport.sent.suffix(2) {
            #expect(sent.mirroredName == "t")
            #expect(sent.mirroredArguments.map(\.value) == ["eu"])
            #expect(sent.json["params"]?["_meta"]?["io.modelcontextprotocol/protocolVersion"] != nil)
        }
        await client.close()
    }

    // MRTR-01: prompts and resources ask too.
    @Test func promptsAndResources() async throws {
        let round = Counter()
        let transport = Script.modern { sent in
            guard round.increment() % 2 == 0 else { return [Self.asks(#"{"q":\#(Self.form)}"#)] }
            return [
                Script.result(
                    sent.method == "prompts/get"
                        ? #"{"messages":[{"role":"user","content":{"type":"text","text":"p"}}]}"#
                        : #"{"contents":[{"uri":"mem://a","text":"r"}]}"#)
            ]
        }
        let client = try await MCPClient.connect(transport.target, options: Self.options())
        #expect(try await client.getPrompt("p").messages.first?.content.text == "p")
        #expect(try await client.readResource("mem://a").first?.text == "r")
        await client.close()
    }

    // ELIC-09: the defaults of every kind are there to be shown, and fit the form as they are.
    @Test func defaults() async throws {
        let form =
            #"{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","#
            + #""properties":{"t":{"type":"string","default":"a"},"i":{"type":"integer","default":1},"#
            + #""n":{"type":"number","default":1.5},"b":{"type":"boolean","default":true},"#
            + #""c":{"type":"string","enum":["x","y"],"default":"y"},"none":{"type":"string"},"#
            + #""m":{"type":"array","items":{"type":"string","enum":["x","y"]},"default":["x"]}}}}}"#
        let transport = Self.peer([Self.asks(#"{"q":\#(form)}"#)])
        let client = try await MCPClient.connect(
            transport.target,
            options: Self.options { $0.onElicit = { .accept($0.schema?.defaults() ?? [:]) } })
        _ = try await client.callTool("t")
        #expect(
            transport.sent.last?.json["params"]?["inputResponses"]?["q"]?["content"]?.value == [
                "t": "a", "i": 1, "n": 1.5, "b": true, "c": "y", "m": ["x"],
            ])
        await client.close()
    }

    // SAMP-13, SAMP-08, SAMP-09: the history reaches the handler with its `_meta`, and can be sent on as it is.
    @Test func history() async throws {
        let messages: JSONValue = [
            [
                "role": "assistant",
                "content": [
                    "type": "tool_use", "id": "1", "name": "n", "input": ["a": 1], "_meta": ["k": "use"],
                ],
            ],
            [
                "role": "user",
                "content": [
                    "type": "tool_result", "toolUseId": "1", "content": [], "_meta": ["k": "result"],
                ],
            ],
        ]
        let request: JSONValue = [
            "q": [
                "method": "sampling/createMessage",
                "params": [
                    "messages": messages, "maxTokens": 1, "tools": [["name": "n", "inputSchema": [:]]],
                ],
            ]
        ]
        let seen = Mutex<JSONValue>(.null)
        let transport = Self.peer([Self.asks(request.serialized())])
        let client = try await MCPClient.connect(
            transport.target,
            options: Self.options {
                $0.supportsSamplingTools = true
                $0.onSample = { request in
                    seen.withLock { $0 = request.json["messages"] ?? .null }
                    return CreateMessageResult(content: [.text("")], model: "m")
                }
            })
        _ = try await client.callTool("t")
        let kept = seen.withLock { $0 }
        #expect(kept[0]?["content"]?["_meta"] == ["k": "use"])
        #expect(kept[1]?["content"]?["_meta"] == ["k": "result"])
        await client.close()
    }

    // MARK: Limits

    // MRTR-17, MRTR-08
    @Test(arguments: [0, 1, 3]) func soManyRounds(_ limit: Int) async throws {
        let transport = Script.modern { _ in [Self.asks(#"{"q":\#(Self.form)}"#)] }
        let client = try await MCPClient.connect(
            transport.target, options: Self.options { $0.maxRounds = limit })
        let error = await clientError { _ = try await client.callTool("t") }
        #expect(error?.kind == .inputRequired)
        #expect(error?.message.contains("after \(limit) rounds") == true)
        #expect(error?.result?["inputRequests"] != nil)
        #expect(transport.methods.filter { $0 == "tools/call" }.count == limit + 1)
        await client.close()
    }

    // A deadline is one for all rounds together.
    @Test func deadlineOverAllRounds() async throws {
        let transport = Script.modern { sent in
            sent.json["params"]?["inputResponses"] == nil ? [Self.asks(#"{"q":\#(Self.form)}"#)] : []
        }
        let client = try await MCPClient.connect(transport.target, options: Self.options())
        let error = await clientError {
            _ = try await client.callTool("t", options: CallOptions(deadline: .milliseconds(50)))
        }
        #expect(error?.kind == .timeout)
        await client.close()
    }

    @Test func cancelledWhileItIsAsked() async throws {
        let (asked, released) = (Gate(), Gate())
        let transport = Self.peer([Self.asks(#"{"q":\#(Self.form),"r":{"method":"roots/list"}}"#)])
        let client = try await MCPClient.connect(
            transport.target,
            options: Self.options {
                $0.onElicit = { _ in
                    asked.open()
                    // A handler that is cancelled and answers all the same.
                    await released.wait()
                    return .accept(["name": "Ada"])
                }
            })
        let call = Task { try await client.callTool("t") }
        await asked.wait()
        call.cancel()
        let error = await clientError { _ = try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(transport.methods.filter { $0 == "tools/call" }.count == 1)
        await client.close()
    }

    @Test func cancelledBetweenTwoRounds() async throws {
        let transport = Script.modern { _ in [Self.asks(nil, state: #""again""#)] }
        let client = try await MCPClient.connect(
            transport.target, options: Self.options { $0.maxRounds = 1_000 })
        let call = Task { try await client.callTool("t") }
        await waitUntil { transport.methods.count > 3 }
        call.cancel()
        #expect(await clientError { _ = try await call.value }?.kind == .cancelled)
        await client.close()
    }

    // MARK: What cannot be answered

    // MRTR-18, ELIC-10: who declines answers.
    @Test(arguments: [ElicitResult.decline, .cancel]) func declining(_ answer: ElicitResult) async throws {
        let transport = Self.peer([Self.asks(#"{"q":\#(Self.form)}"#)])
        let client = try await MCPClient.connect(
            transport.target,
            options: Self.options {
                // Contents of what is not accepted stay here.
                $0.onElicit = { _ in ElicitResult(answer.action, content: ["name": "secret"]) }
            })
        _ = try await client.callTool("t")
        #expect(
            transport.sent.last?.json["params"]?["inputResponses"]?["q"]?.value == [
                "action": .string(answer.action.rawValue)
            ])
        await client.close()
    }

    struct Trouble: Error {}

    // MRTR-13, MRTR-18, ELIC-24, SAMP-03, SAMP-12, AMB-16: nothing is sent, and the call ends here.
    @Test(arguments: [
        // Nobody to answer, or nobody who would.
        (#"{"method":"elicitation/create","params":{"message":"m","mode":"url","url":"https://a"}}"#, "URL"),
        (
            #"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}"#,
            "refused"
        ),
        (
            #"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"toolChoice":{"mode":"auto"}}}"#,
            "with tools"
        ),
        (
            #"{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}]}}"#,
            "one result"
        ),
        (#"{"method":"roots/list"}"#, "roots"),
        // An answer that does not fit its form.
        (Self.form, "does not match the form"),
    ]) func unanswerable(_ request: String, _ why: String) async throws {
        let transport = Self.peer([Self.asks(#"{"q":\#(request)}"#)])
        let client = try await MCPClient.connect(
            transport.target,
            options: Self.options {
                $0.onElicit = { _ in .accept(["name": "x"]) }
                $0.onSample = { _ in throw Trouble() }
                $0.onRoots = nil
            })
        let error = await clientError { _ = try await client.callTool("t") }
        #expect(error?.kind == .inputRequired)
        #expect(error?.message.contains(why) == true, "\(error?.message ?? "no error")")
        #expect(error?.result?["inputRequests"]?["q"] != nil)
        #expect(transport.methods.filter { $0 == "tools/call" }.count == 1)
        await client.close()
    }

    // MRTR-02, MRTR-03, MRTR-04: what a server may not say ends the call.
    @Test(arguments: [
        #"{"inputRequests":{"q":{"method":"tools/list","params":{}}}}"#,
        #"{"inputRequests":{"q":{"method":"elicitation/create","params":{}}}}"#,
        #"{"inputRequests":{"q":{"params":{}}}}"#, #"{"inputRequests":{"q":7}}"#, #"{"inputRequests":[]}"#,
        #"{"inputRequests":null}"#, #"{"requestState":7}"#, #"{"requestState":null}"#, "{}",
    ]) func unreadable(_ members: String) async throws {
        let members = String(members.dropFirst().dropLast())
        let transport = Script.modern { _ in
            [Script.result(#"{\#(members)\#(members.isEmpty ? "" : ",")"resultType":"input_required"}"#)]
        }
        let client = try await MCPClient.connect(transport.target, options: Self.options())
        let error = await clientError { _ = try await client.callTool("t") }
        #expect(error?.kind == .protocolViolation)
        #expect(transport.methods.filter { $0 == "tools/call" }.count == 1)
        await client.close()
    }

    // MRTR-02: on no other method.
    @Test func onlyWhereItBelongs() async throws {
        let transport = Self.peer([Self.asks(#"{"q":\#(Self.form)}"#)])
        let client = try await MCPClient.connect(transport.target, options: Self.options())
        let error = await clientError { _ = try await client.listTools() }
        #expect(error?.kind == .protocolViolation)
        await client.close()
    }

    // MRTR-15: what was asked in one call is answered in that call.
    @Test func callsAtTheSameTime() async throws {
        let transport = Script.modern { sent in
            let name = sent.json["params"]?["name"]?.string ?? ""
            guard let answers = sent.json["params"]?["inputResponses"] else {
                return [
                    Self.asks(
                        #"{"k-\#(name)":{"method":"elicitation/create","params":{"message":"\#(name)","#
                            + #""requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}}"#,
                        state: #""state \#(name)""#)
                ]
            }
            let isOwn =
                answers["k-\(name)"]?["content"]?["n"]?.string == name
                && sent.json["params"]?["requestState"]?.string == "state \(name)"
            return [Script.result(#"{"content":[{"type":"text","text":"\#(name) \#(isOwn)"}]}"#)]
        }
        let client = try await MCPClient.connect(
            transport.target,
            options: Self.options {
                $0.onElicit = { request in
                    await Task.yield()
                    return .accept(["n": .string(request.message)])
                }
            })
        await withTaskGroup(of: Bool.self) { group in
            for number in 0 ..< 40 {
                group.addTask {
                    (try? await client.callTool("t\(number)").text) == "t\(number) true"
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        await client.close()
    }

    // CAP-01, CAP-04, CAP-06, ELIC-01, SAMP-01, ROOT-01, TASK-01: each request says what there are handlers
    // for.
    @Test(arguments: [
        (false, false, false, false, "{}"), (true, false, false, false, #"{"elicitation":{"form":{}}}"#),
        (false, true, false, false, #"{"sampling":{}}"#), (false, false, true, false, #"{"roots":{}}"#),
        (
            true, true, true, true,
            #"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"com.example/x":{"a":1},"io.modelcontextprotocol/tasks":{}}}"#
        ),
    ]) func declared(
        _ elicits: Bool, _ samples: Bool, _ roots: Bool, _ everything: Bool, _ expected: String
    ) async throws {
        let transport = Script.modern { _ in [Script.result("{}")] }
        var options = Self.options {
            if !elicits { $0.onElicit = nil }
            if !samples { $0.onSample = nil }
            if !roots { $0.onRoots = nil }
        }
        // Without a handler they mean nothing.
        options.supportsElicitationURL = everything || !elicits
        options.supportsSamplingTools = everything || !samples
        if everything {
            options.followsTasks = true
            options.extensions = ["com.example/x": ["a": 1]]
        }
        let client = try await MCPClient.connect(transport.target, options: options)
        _ = try await client.request("tools/list")
        let wanted = try JSONValue(parsing: expected)
        for sent in transport.sent {
            let meta = sent.json["params"]?["_meta"]
            #expect(meta?["io.modelcontextprotocol/clientCapabilities"]?.value == wanted)
        }
        await client.close()
    }
}
