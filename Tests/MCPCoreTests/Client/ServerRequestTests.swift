import MCPCore
import Synchronization
import TestSupport
import Testing

/// Requests of servers of the handshake revisions: what the client answers.
@Suite(.timeLimit(.minutes(5))) struct ServerRequestTests {
    struct Trouble: Error {}

    private static func options(_ change: (inout ClientOptions) -> Void = { _ in }) -> ClientOptions {
        var options = ClientOptions()
        options.onElicit = { request in
            request.url == nil ? .accept(["name": .string(request.message)]) : .accept
        }
        options.onSample = { _ in
            CreateMessageResult(content: [.text("Paris"), .text("France")], model: "m", stopReason: nil)
        }
        options.onRoots = { [Root("file:///a", name: "a", meta: ["k": 1])] }
        change(&options)
        return options
    }

    private static func connect(
        _ version: String = "2025-11-25", _ options: ClientOptions = options()
    ) async throws -> (MCPClient, ScriptedTransport) {
        let transport = Script.legacy(version) { _ in [Script.result("{}")] }
        return (try await MCPClient.connect(transport.target, options: options), transport)
    }

    private static func ask(
        _ transport: ScriptedTransport, _ method: String, _ params: String = "{}", id: String = #""s""#
    ) {
        transport.push(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
    }

    private static func answers(_ transport: ScriptedTransport, _ id: String) -> [RawJSON] {
        transport.sent.filter { $0.method.isEmpty }.map(\.json)
            .filter { $0["id"].map { String($0.bytes) } == id }
    }

    private static func answer(
        _ transport: ScriptedTransport, _ method: String, _ params: String = "{}", id: String = #""s""#
    ) async -> RawJSON? {
        ask(transport, method, params, id: id)
        await waitUntil { !answers(transport, id).isEmpty }
        return answers(transport, id).first
    }

    private static let form =
        #"{"message":"Ada","requestedSchema":{"type":"object","properties":{"name":{"type":"string","minLength":2}},"required":["name"]}}"#
    private static let page = #"{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"1"}"#
    private static let sample =
        #"{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":9}"#
    private static let sampleWithTools =
        #"{"messages":[],"maxTokens":9,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#

    /// A person who thinks is not a server that is silent: the call waits as long as its question is open.
    @Test func aQuestionStopsTheTimeOfSilence() async throws {  // CANC-08
        let (asked, answered) = (Gate(), Gate())
        let transport = Script.legacy("2025-11-25") { _ in [] }
        let client = try await MCPClient.connect(
            transport.target,
            options: Self.options {
                $0.onElicit = { _ in
                    asked.open()
                    await answered.wait()
                    return .accept(["name": "Ada"])
                }
            })
        Self.ask(transport, "elicitation/create", Self.form)
        await asked.wait()
        let limit = CallOptions(timeout: .milliseconds(30))
        let call = Task { try await client.request("tools/call", ["name": "x"], options: limit) }
        await waitUntil { transport.methods.last == "tools/call" }
        // Calls that begin later on another connection are over, one after the other.
        let (other, silent) = (Script.legacy("2025-11-25") { _ in [] }, limit)
        let second = try await MCPClient.connect(other.target)
        for _ in 1 ... 3 {
            let error = await clientError { _ = try await second.request("tools/list", options: silent) }
            #expect(error?.kind == .timeout)
        }
        #expect(client.probe.requests == 1)
        answered.open()
        await waitUntil { !Self.answers(transport, #""s""#).isEmpty }
        // From here on the server is silent.
        let error = await clientError { _ = try await call.value }
        #expect(error?.kind == .timeout)
        for client in [client, second] { await client.close() }
    }

    /// What the client answers by itself does not, though the server never takes the answer.
    @Test(arguments: ["ping", "sampling/createMessage", "no/such"])
    func answersWithoutAPersonDoNotStopIt(method: String) async throws {
        let end = Gate()
        let transport = Script.legacy(
            "2025-11-25", taking: { if $0.isEmpty { await end.wait() } }, { _ in [] })
        let client = try await MCPClient.connect(transport.target)
        #expect(await Self.answer(transport, method, Self.sample) != nil)
        let limit = CallOptions(timeout: .milliseconds(30))
        let error = await clientError {
            _ = try await client.request("tools/call", ["name": "x"], options: limit)
        }
        #expect(error?.kind == .timeout)
        end.open()
        await client.close()
    }

    /// Servers that give up waiting for a person often say nothing; they still hear what the handler returns.
    @Test(arguments: [true, false]) func aQuestionEndsWithItsCall(isAnswered: Bool) async throws {
        let asked = Gate()
        let transport = Script.legacy("2025-11-25") { _ in [] }
        let client = try await MCPClient.connect(
            transport.target,
            options: Self.options {
                $0.onElicit = { _ in
                    asked.open()
                    try? await Task.sleep(for: .seconds(240))
                    return .cancel
                }
            })
        let call = Task { try await client.request("tools/call", ["name": "x"]) }
        await waitUntil { transport.methods.last == "tools/call" }
        let id = try #require(transport.sent.last?.id)
        Self.ask(transport, "elicitation/create", Self.form)
        await asked.wait()
        let outcome = isAnswered ? #""result":{"content":[]}"# : #""error":{"code":-32000,"message":"late"}"#
        transport.push(#"{"jsonrpc":"2.0","id":\#(id),\#(outcome)}"#)
        #expect(((try? await call.value) != nil) == isAnswered)
        await waitUntil { !Self.answers(transport, #""s""#).isEmpty }
        #expect(Self.answers(transport, #""s""#).first?["result"]?["action"]?.string == "cancel")
        await client.close()
    }

    /// What a server asks beside two calls belongs to neither, and stays when one of them ends.
    @Test func aQuestionBesideTwoCallsStays() async throws {
        let (asked, answered) = (Gate(), Gate())
        let transport = Script.legacy("2025-11-25") { _ in [] }
        let client = try await MCPClient.connect(
            transport.target,
            options: Self.options {
                $0.onElicit = { _ in
                    asked.open()
                    await answered.wait()
                    return Task.isCancelled ? .cancel : .accept(["name": "Ada"])
                }
            })
        let calls = ["x", "y"].map { name in
            Task { try await client.request("tools/call", ["name": .string(name)]) }
        }
        await waitUntil { transport.methods.filter { $0 == "tools/call" }.count == 2 }
        let ids = transport.sent.suffix(2).compactMap(\.id)
        Self.ask(transport, "elicitation/create", Self.form)
        await asked.wait()
        transport.push(#"{"jsonrpc":"2.0","id":\#(ids[0]),"result":{"content":[]}}"#)
        await waitUntil { client.probe.requests == 1 }
        answered.open()
        await waitUntil { !Self.answers(transport, #""s""#).isEmpty }
        #expect(Self.answers(transport, #""s""#).first?["result"]?["action"]?.string == "accept")
        transport.push(#"{"jsonrpc":"2.0","id":\#(ids[1]),"result":{"content":[]}}"#)
        for call in calls { _ = try await call.value }
        await client.close()
    }

    // LIFE-10, JRPC-18, ELIC-04, ELIC-10, SAMP-07, ROOT-02, ROOT-05: with the id as it came.
    @Test(arguments: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
    func answered(_ version: String) async throws {
        let (client, transport) = try await Self.connect(version)
        #expect(await Self.answer(transport, "ping", id: "7")?["result"]?.value == [:])
        let roots = await Self.answer(transport, "roots/list", id: #""r""#)
        #expect(roots?["result"]?["roots"]?[0]?["uri"]?.string == "file:///a")
        #expect(roots?["result"]?["roots"]?.elements?.count == 1)
        let sampled = await Self.answer(transport, "sampling/createMessage", Self.sample, id: "-1")
        // Several blocks are for 2025-11-25; before there is one.
        #expect((sampled?["result"]?["content"]?.kind == .array) == (version == "2025-11-25"))
        #expect(sampled?["result"]?["model"]?.string == "m")
        let elicited = await Self.answer(transport, "elicitation/create", Self.form, id: #""e""#)
        if version >= "2025-06-18" {
            #expect(elicited?["result"]?.value == ["action": "accept", "content": ["name": "Ada"]])
        } else {
            // A question that the revision does not have.
            #expect(elicited?["error"]?["code"]?.int == -32601)
        }
        await client.close()
    }

    // LIFE-10, ROOT-04, ELIC-02, SAMP-01: who has no handler says so.
    @Test(arguments: [
        "roots/list", "sampling/createMessage", "elicitation/create", "tools/list", "tasks/get", "x", "",
    ]) func unknown(_ method: String) async throws {
        let (client, transport) = try await Self.connect("2025-11-25", ClientOptions())
        let params = ["sampling/createMessage": Self.sample, "elicitation/create": Self.form][method] ?? "{}"
        #expect(await Self.answer(transport, method, params)?["error"]?["code"]?.int == -32601)
        await client.close()
    }

    // ERR-14, SAMP-03, SAMP-08, SAMP-09, SAMP-15, ELIC-24
    @Test(arguments: [
        ("2025-11-25", "elicitation/create", page, -32602),
        ("2025-06-18", "elicitation/create", page, -32602),
        (
            "2025-11-25", "elicitation/create",
            #"{"message":"x","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}}"#,
            -32602
        ),
        ("2025-11-25", "elicitation/create", #"{"requestedSchema":{}}"#, -32602),
        ("2025-11-25", "sampling/createMessage", sampleWithTools, -32602),
        ("2025-11-25", "sampling/createMessage", #"{"messages":[]}"#, -32602),
        (
            "2025-11-25", "sampling/createMessage",
            #"{"maxTokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}]}"#,
            -32602
        ),
    ]) func refused(_ version: String, _ method: String, _ params: String, _ code: Int) async throws {
        let (client, transport) = try await Self.connect(version)
        #expect(await Self.answer(transport, method, params)?["error"]?["code"]?.int == code)
        await client.close()
    }

    // ELIC-01, SAMP-02: what is declared is done, in the revisions that have it.
    @Test(arguments: ["2025-06-18", "2025-11-25"]) func declaredExtras(_ version: String) async throws {
        let (client, transport) = try await Self.connect(
            version,
            Self.options {
                $0.supportsElicitationURL = true
                $0.supportsSamplingTools = true
            })
        let page = await Self.answer(transport, "elicitation/create", Self.page, id: "1")
        let tools = await Self.answer(transport, "sampling/createMessage", Self.sampleWithTools, id: "2")
        if version == "2025-11-25" {
            #expect(page?["result"]?.value == ["action": "accept"])
            #expect(tools?["result"] != nil)
        } else {
            #expect(page?["error"]?["code"]?.int == -32602)
            #expect(tools?["error"]?["code"]?.int == -32602)
        }
        await client.close()
    }

    // SAMP-15: a handler's refusal; its own code, if it has one.
    @Test(arguments: [
        ("elicitation/create", form, -32603), ("sampling/createMessage", sample, -1),
        ("roots/list", "{}", -32603),
    ]) func handlersThatThrow(_ method: String, _ params: String, _ code: Int) async throws {
        for thrown in [Trouble(), MCPError(code: 4711, message: "own", data: ["k": 1])] as [any Error] {
            let (client, transport) = try await Self.connect(
                "2025-11-25",
                Self.options {
                    $0.onElicit = { _ in throw thrown }
                    $0.onSample = { _ in throw thrown }
                    $0.onRoots = { throw thrown }
                })
            let error = await Self.answer(transport, method, params)?["error"]
            if thrown is Trouble {
                #expect(error?["code"]?.int == code)
                // What went wrong inside is not the server's business.
                #expect(error?["message"]?.string?.contains("Trouble") == false)
            } else {
                #expect(error?.value == ["code": 4711, "message": "own", "data": ["k": 1]])
            }
            await client.close()
        }
    }

    // ELIC-10
    @Test(arguments: [ElicitResult.decline, .cancel]) func declining(_ result: ElicitResult) async throws {
        let (client, transport) = try await Self.connect(
            "2025-11-25", Self.options { $0.onElicit = { _ in result } })
        let answer = await Self.answer(transport, "elicitation/create", Self.form)
        #expect(answer?["result"]?.value == ["action": .string(result.action.rawValue)])
        await client.close()
    }

    // JRPC-18: one does not wait for the other; more than the limit are not taken, and afterwards there is
    // room.
    @Test func manyAtOnce() async throws {
        let release = Gate()
        let (client, transport) = try await Self.connect(
            "2025-11-25",
            Self.options {
                $0.onRoots = {
                    await release.wait()
                    return []
                }
            })
        for number in 0 ..< ClientProbe.maxQuestions { Self.ask(transport, "roots/list", id: "\(number)") }
        Self.ask(transport, "roots/list", id: #""too many""#)
        // The client's own calls go on.
        _ = try await client.request("tools/list")
        release.open()
        await waitUntil { transport.sent.count { $0.method.isEmpty } == ClientProbe.maxQuestions + 1 }
        let refused = Self.answers(transport, #""too many""#)
        #expect(refused.count == 1 && refused.first?["error"]?["code"]?.int == MCPError.overloadedCode)
        #expect(await Self.answer(transport, "ping", id: #""after""#)?["result"] != nil)
        await client.close()
    }

    /// A client whose roots never come.
    private static func waitingForRoots(
        _ begun: Gate, _ cancelled: Gate
    ) async throws -> (MCPClient, ScriptedTransport) {
        try await connect(
            "2025-11-25",
            options {
                $0.onRoots = {
                    begun.open()
                    if await !Gate().wait(), Task.isCancelled { cancelled.open() }
                    return []
                }
            })
    }

    // CANC-11: what is taken back is not answered.
    @Test func takenBack() async throws {
        let (begun, cancelled) = (Gate(), Gate())
        let (client, transport) = try await Self.waitingForRoots(begun, cancelled)
        Self.ask(transport, "roots/list", id: #""gone""#)
        await begun.wait()
        // An id of another type is another request.
        transport.push(
            #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}"#)
        transport.push(
            #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"gone"}}"#)
        await cancelled.wait()
        #expect(cancelled.isOpen)
        #expect(await Self.answer(transport, "ping", id: "1")?["result"] != nil)
        #expect(Self.answers(transport, #""gone""#).isEmpty)
        await client.close()
    }

    @Test func theEndCancelsHandlers() async throws {
        let (begun, cancelled) = (Gate(), Gate())
        let (client, transport) = try await Self.waitingForRoots(begun, cancelled)
        Self.ask(transport, "roots/list")
        await begun.wait()
        await client.close()
        await cancelled.wait()
        #expect(cancelled.isOpen)
    }

    // CANC-11: a question on the stream of a call that is given up is of no use; its stream is closed.
    @Test func theCallIsGivenUp() async throws {
        let (begun, cancelled) = (Gate(), Gate())
        let transport = Script.legacy("2025-11-25", isHTTP: true) { sent in
            sent.method == "tools/call"
                ? [.message(#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#)] : [Script.result("{}")]
        }
        let options = Self.options {
            $0.onRoots = {
                begun.open()
                if await !Gate().wait(), Task.isCancelled { cancelled.open() }
                return []
            }
        }
        let client = try await MCPClient.connect(transport.target, options: options)
        let other = Task { try await client.request("tools/call", ["name": "t"]) }
        await begun.wait()
        _ = try await client.request("tools/list")
        #expect(!cancelled.isOpen)
        other.cancel()
        #expect(await clientError { _ = try await other.value }?.kind == .cancelled)
        await cancelled.wait()
        #expect(cancelled.isOpen)
        await client.close()
    }

    // ROOT-01, ROOT-03, SAMP-01, ELIC-01, CAP-09, CAP-10, LIFE-02: in `initialize`, in the words of the
    // revision.
    @Test(arguments: [
        ("2024-11-05", #"{"roots":{"listChanged":true},"sampling":{},"extensions":{"com.example/x":{}}}"#),
        ("2025-03-26", #"{"roots":{"listChanged":true},"sampling":{},"extensions":{"com.example/x":{}}}"#),
        (
            "2025-06-18",
            #"{"roots":{"listChanged":true},"sampling":{},"elicitation":{},"extensions":{"com.example/x":{}}}"#
        ),
        (
            "2025-11-25",
            #"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"#
                + #""extensions":{"com.example/x":{}}}"#
        ),
    ]) func declared(_ version: String, _ expected: String) async throws {
        var options = Self.options {
            $0.supportsElicitationURL = true
            $0.supportsSamplingTools = true
            $0.followsTasks = true
            $0.extensions = ["com.example/x": [:]]
        }
        options.protocol = .exactly(ProtocolVersion(version))
        let (client, transport) = try await Self.connect(version, options)
        let sent = transport.sent.first { $0.method == "initialize" }
        #expect(sent?.json["params"]?["capabilities"]?.value == (try JSONValue(parsing: expected)))
        await client.close()
    }

    // ROOT-03: who declares no roots, or speaks 2026-07-28, has nothing to tell.
    @Test func notifyRootsChanged() async throws {
        let notice = "notifications/roots/list_changed"
        let (client, transport) = try await Self.connect()
        try await client.notifyRootsChanged()
        #expect(transport.methods.last == notice)
        await client.close()
        let (without, silent) = try await Self.connect("2025-11-25", ClientOptions())
        try await without.notifyRootsChanged()
        #expect(!silent.methods.contains(notice))
        await without.close()
        let modern = Script.modern { _ in [] }
        let client2 = try await MCPClient.connect(modern.target, options: Self.options())
        try await client2.notifyRootsChanged()
        #expect(modern.methods == ["server/discover"])
        await client2.close()
    }
}
