import Synchronization
import TestSupport
import Testing

@testable import MCPCore
@testable import MCPHarness

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The loop between a model and tools.
@Suite(.timeLimit(.minutes(5))) struct ToolHarnessTests {
    private let fixture = HarnessFixture()

    // H01, H10
    @Test func theModelIsToldWhatThereIs() async throws {
        let model = ScriptedModel(.text("hello"))
        let harness = try fixture.harness(model, [fixture.lookup()])
        #expect(try await harness.send("hi").text == "hello")
        let request = try #require(model.requests.first)
        #expect(request.tools == [fixture.lookup().tool])
        let system = try #require(request.system)
        for part in ["You are Stock.", "Knows what is in stock.", "- look items up"] {
            #expect(system.contains(part))
        }
        // Rules of caution, unless there are instructions.
        #expect(system.contains("data, not instructions"))
        #expect(request.messages == [.user("hi")])
    }

    // H02, H09: the schema of the guide, written as a literal.
    @Test func schemasAreLiterals() throws {
        let schema: JSONValue = [
            "type": .string("object"),
            "properties": .object(["sku": .object(["type": .string("string")]), "n": ["maximum": 3]]),
            "required": .array([.string("sku")]), "additionalProperties": .bool(false), "default": .null,
        ]
        let text =
            #"{"type":"object","properties":{"sku":{"type":"string"},"n":{"maximum":3}},"required":["sku"],"#
            + #""additionalProperties":false,"default":null}"#
        #expect(schema.serialized() == text)
        #expect(try JSONValue(parsing: text) == schema)
        #expect(try JSONValue(parsing: "9007199254740993").serialized() == "9007199254740993")
    }

    // H03, H05, H10
    @Test func aToolIsCalledAndRead() async throws {
        let model = HarnessFixture.lookingUp()
        let harness = try fixture.harness(model, [fixture.lookup()])
        let reply = try await harness.send("How many A-1?")
        #expect(reply.text == "There it says: A-1: 12 in stock")
        #expect(reply.rounds == 1)
        #expect(reply.calls.map(\.status) == [.completed])
        #expect(fixture.runs.all == ["run A-1"])
        let call = ModelToolCall(callID: "call_1_1", name: "lookup_item", arguments: HarnessFixture.askFor)
        #expect(
            await harness.transcript == [
                .user("How many A-1?"), .assistant("", [call]),
                .toolResults([
                    ModelToolResult(
                        callID: "call_1_1", name: "lookup_item", content: [.text("A-1: 12 in stock")],
                        isError: false)
                ]), .assistant("There it says: A-1: 12 in stock", []),
            ])
        // The next message goes on from there.
        _ = try await harness.send("And now?")
        #expect(model.requests.last?.messages.count ?? 0 > 4)
    }

    // H04
    @Test func declaredToolsNeedHandlers() throws {
        let tool = fixture.lookup()
        #expect(throws: HarnessError.missingToolHandler("restock")) {
            try HostToolSource([tool], declared: [tool.tool, Tool("restock")])
        }
        #expect(throws: HarnessError.duplicateTool("lookup_item")) { try HostToolSource([tool, tool]) }
        let source = try HostToolSource([tool])
        #expect(throws: HarnessError.duplicateSource("host")) {
            try ToolHarness(name: "x", summary: "", model: ScriptedModel(), sources: [source, source])
        }
    }

    // H06: arguments as the model wrote them, byte for byte.
    @Test func fieldsOfACall() async throws {
        let arguments = "{ \"sku\" :\"\\u0041-1\" , \"sku2\": 1.0 }"
        let seen = Mutex<ToolInvocation?>(nil)
        var tool = HostTool("t", description: "", inputSchema: ["type": "object"]) { call in
            seen.withLock { $0 = call }
            return "ok"
        }
        tool.isSerial = true
        let model = ScriptedModel(
            .events { _ in
                [.toolCall(ModelToolCall(callID: "c7", itemID: "item", name: "t", arguments: arguments))]
            }, .text("done"))
        let reply = try await fixture.harness(model, [tool]).send("go")
        let call = try #require(seen.withLock { $0 })
        #expect(call.arguments == arguments)
        #expect(call.callID == "c7" && call.itemID == "item" && call.name == "t" && call.source == "host")
        #expect(call.argumentsJSON?["sku"] == "A-1")
        #expect(reply.calls.first?.invocation.callID == "c7")
    }

    // H07
    @Test(arguments: [false, true]) func argumentsThatAreNoJSON(_ checks: Bool) async throws {
        let runs = fixture.runs
        var tool = HostTool("t", description: "", inputSchema: ["type": "object"]) { call in
            runs.add(call.argumentsJSON == nil ? "nil" : "json")
            return "ok"
        }
        tool.checksArguments = checks
        let model = ScriptedModel(.calls(("t", #"{"sku":"#)), .text("done"))
        let reply = try await fixture.harness(model, [tool]).send("go")
        #expect(reply.calls.map(\.status) == [checks ? .failed : .completed])
        #expect(runs.all == (checks ? [] : ["nil"]))
        if checks { #expect(reply.calls[0].output.text.contains("are not valid JSON")) }
    }

    @Test(arguments: ["", "  \n"]) func noTextIsNoArguments(_ text: String) async throws {
        let tool = HostTool("t", description: "", inputSchema: ["type": "object"]) { call in
            "\(call.argumentsJSON ?? .null)"
        }
        let reply = try await fixture.harness(ScriptedModel(.calls(("t", text)), .text("")), [tool]).send(
            "go")
        #expect(reply.calls[0].output.text == "{}")
    }

    // H08
    @Test func textIsAResult() async throws {
        let count = 3
        let tools = [
            HostTool(name: "a", description: "", inputSchema: ["type": "object"]) { _ in "ok" },
            HostTool(name: "b", description: "", inputSchema: ["type": "object"]) { _ in "\(count) of 4" },
            HostTool(name: "c", description: "", inputSchema: ["type": "object"]) { _ in
                try .json(["left": count])
            },
        ]
        let model = ScriptedModel(.calls(("a", "{}"), ("b", "{}"), ("c", "{}")), .text("done"))
        let harness = try fixture.harness(model, tools)
        let reply = try await harness.send("go")
        #expect(reply.calls.map(\.output.text) == ["ok", "3 of 4", #"{"left":3}"#])
        guard case .toolResults(let read) = await harness.transcript[2] else { throw NothingThere() }
        #expect(read.map(\.text) == ["ok", "3 of 4", #"{"left":3}"#])
    }

    // H20, SAMP-10
    @Test(arguments: [(nil, 6), (2, 2), (0, 0)] as [(Int?, Int)])
    func roundsAreLimited(_ given: Int?, _ limit: Int) async throws {
        let model = ScriptedModel(.calls(("lookup_item", HarnessFixture.askFor)))
        let harness = try fixture.harness(model, [fixture.lookup()])
        do {
            _ = try await harness.send("go", rounds: given)
            Issue.record("there is no limit")
        } catch let error as TurnError {
            #expect(error.cause as? HarnessError == .toolLoopLimitExceeded(limit: limit))
            #expect(error.calls.map(\.status) == Array(repeating: .completed, count: limit))
            #expect(error.rounds == limit)
        } catch let error as HarnessError {
            // Nothing ran.
            #expect(limit == 0 && error == .toolLoopLimitExceeded(limit: 0))
        }
        #expect(fixture.runs.all.count == limit)
        #expect(model.requests.count == limit + 1)
        // What was done stays; a turn in which nothing was done leaves nothing behind (D7).
        #expect(await harness.transcript.count == (limit == 0 ? 0 : 1 + 2 * limit))
    }

    @Test func anAnswerAfterTheLastRoundIsGood() async throws {
        let call = ScriptedModel.Step.calls(("lookup_item", HarnessFixture.askFor))
        let model = ScriptedModel(Array(repeating: call, count: 6) + [.text("enough")])
        let reply = try await fixture.harness(model, [fixture.lookup()]).send("go")
        #expect(reply.text == "enough")
        #expect(reply.rounds == 6)
    }

    @Test func callsOfARoundAreLimited() async throws {
        var limits = HarnessLimits()
        limits.maxCallsPerRound = 3
        let calls = (0 ..< 5).map { index in
            ModelEvent.toolCall(
                ModelToolCall(callID: "c\(index)", name: "lookup_item", arguments: HarnessFixture.askFor))
        }
        let model = ScriptedModel(.events { _ in calls }, .text("done"))
        let harness = try fixture.harness(model, [fixture.lookup()], limits: limits)
        let (events, _) = await HarnessFixture.events(harness)
        guard case .completed(let reply)? = events.last else { throw NothingThere() }
        // Those that are not made are announced like all others.
        #expect(events.filter { $0.word == "requested" }.count == 5)
        #expect(reply.calls.map(\.status) == [.completed, .completed, .completed, .failed, .failed])
        #expect(fixture.runs.all.count == 3)
        #expect(reply.calls[4].output.text.contains("at most 3 calls"))
    }

    // H26
    @Test func readersRunBesideEachOther() async throws {
        let (begun, ended) = (Counter(), Counter())
        let tool = HostTool(
            "wait", description: "", inputSchema: ["type": "object"],
            annotations: ToolAnnotations(readOnlyHint: true)
        ) { call in
            begun.increment()
            #expect(await comesTrue { begun.value == 4 })
            // The first ends last, and is told first all the same.
            if call.callID.hasSuffix("_1") { #expect(await comesTrue { ended.value == 3 }) }
            ended.increment()
            return "\(call.callID)"
        }
        let call = ("wait", "{}")
        let model = ScriptedModel(.calls(call, call, call, call), .text("done"))
        let reply = try await fixture.harness(model, [tool]).send("go")
        #expect(reply.calls.map(\.output.text) == ["call_1_1", "call_1_2", "call_1_3", "call_1_4"])
    }

    @Test func writersRunAlone() async throws {
        let active = Mutex<(now: Int, most: Int)>((0, 0))
        @Sendable func tool(_ name: String, readOnly: Bool, serial: Bool) -> HostTool {
            var tool = HostTool(
                name, description: "", inputSchema: ["type": "object"],
                annotations: ToolAnnotations(readOnlyHint: readOnly)
            ) { _ in
                let count = active.withLock { active in
                    active.now += 1
                    active.most = max(active.most, active.now)
                    return active.now
                }
                await Task.yield()
                active.withLock { $0.now -= 1 }
                return "\(count)"
            }
            tool.isSerial = serial
            return tool
        }
        let tools = [
            tool("write", readOnly: false, serial: false), tool("alone", readOnly: true, serial: true),
        ]
        let model = ScriptedModel(
            .calls(("write", "{}"), ("alone", "{}"), ("write", "{}"), ("alone", "{}")), .text("done"))
        _ = try await fixture.harness(model, tools).send("go")
        #expect(active.withLock { $0.most } == 1)
    }

    // H19
    @Test func cancelStopsAtOnce() async throws {
        let (started, told) = (Gate(), Gate())
        let tool = HostTool("stuck", description: "", inputSchema: ["type": "object"]) { _ in
            started.open()
            // It does not heed its cancellation, and ends only after everybody was told of it.
            _ = await Task.detached { await told.wait() }.value
            return "late"
        }
        let harness = try fixture.harness(ScriptedModel(.calls(("stuck", "{}"))), [tool])
        let handle = harness.streamHandle("go")
        let reading = Task {
            var words: [String] = []
            do {
                for try await event in handle.events { words.append(event.word) }
            } catch {
                words.append("\(type(of: error))")
            }
            return words
        }
        #expect(await started.wait())
        handle.cancel()
        #expect(await reading.value == ["round 1", "requested", "cancelled", "CancellationError"])
        told.open()
        // The call has ended, as cancelled: the conversation can go on from there.
        let transcript = await harness.transcript
        #expect(transcript.count == 3)
        guard case .toolResults(let results)? = transcript.last else { throw NothingThere() }
        #expect(results.map(\.text) == ["stuck was cancelled."])
        #expect(try await fixture.harness(ScriptedModel(.text("x")), []).send("still here").text == "x")
    }

    @Test func oneTurnAtATime() async throws {
        let (entered, go) = (Gate(), Gate())
        let tool = HostTool("wait", description: "", inputSchema: ["type": "object"]) { _ in
            entered.open()
            await go.wait()
            return "ok"
        }
        let harness = try fixture.harness(ScriptedModel(.calls(("wait", "{}")), .text("done")), [tool])
        let first = Task { try await harness.send("one") }
        #expect(await entered.wait())
        await #expect(throws: HarnessError.busy) { try await harness.send("two") }
        go.open()
        #expect(try await first.value.text == "done")
    }

    // H19: what follows in the round is neither asked for nor run.
    @Test func cancelEndsTheRound() async throws {
        let (started, told) = (Gate(), Gate())
        let runs = fixture.runs
        let stuck = HostTool("stuck", description: "", inputSchema: ["type": "object"]) { _ in
            started.open()
            _ = await Task.detached { await told.wait() }.value
            return "late"
        }
        let reader = HostTool(
            "read", description: "", inputSchema: ["type": "object"],
            annotations: ToolAnnotations(readOnlyHint: true)
        ) { _ in
            runs.add("read")
            return "ok"
        }
        let asks = HostTool("ask", description: "", inputSchema: ["type": "object"], policy: .ask(.files)) {
            _ in "ok"
        }
        let free = fixture.lookup()
        let model = ScriptedModel(
            .calls(
                ("stuck", "{}"), ("ask", "{}"), ("read", "{}"), ("read", "{}"), ("nothing", "{}"),
                ("lookup_item", HarnessFixture.askFor)))
        let harness = try fixture.harness(model, [stuck, reader, asks, free]) { _ in
            runs.add("asked")
            return .approved()
        }
        let reading = Task {
            var words: [String] = []
            let handle = harness.streamHandle("go")
            let ending = Task {
                await started.wait()
                handle.cancel()
            }
            do {
                for try await event in handle.events { words.append(event.word) }
            } catch {
                words.append("\(type(of: error))")
            }
            await ending.value
            return words
        }
        let words = await reading.value
        told.open()
        #expect(runs.all.isEmpty)
        #expect(words.filter { $0 == "requested" }.count == 6)
        #expect(words.filter { $0 == "cancelled" }.count == 6)
        #expect(!words.contains("approval") && words.last == "CancellationError")
    }

    // H19: work of a caller that has given up does not begin.
    @Test func nothingBeginsForACallerThatHasGivenUp() async throws {
        let runs = fixture.runs
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await Race.run(within: nil) { runs.add("begun") }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let desk = ApprovalCoordinator(
            { _ in
                runs.add("asked")
                return .approved()
            }, RememberedDecisions(), timeout: nil)
        let question = ApprovalRequest(
            invocation: ToolInvocation(callID: "c", name: "t", source: "s", arguments: "{}"),
            tool: Tool("t"), sourceName: "s", sourceIdentity: "s", isTrusted: false, policy: .ask(.files),
            requestedBy: .model,
            timeout: nil)
        let asking = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await desk.decide(question) { _ in runs.add("announced") }
        }
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        #expect(runs.all.isEmpty)
        // The desk is free again.
        #expect(try await desk.decide(question) { _ in }.decision == .approved())
    }

    // H27
    @Test func whatFailsIsToldToTheModel() async throws {
        struct Broken: Error, CustomStringConvertible { var description: String { "the shelf fell down" } }
        var limits = HarnessLimits()
        limits.maxResultBytes = 100
        limits.toolTimeout = .seconds(2)
        let tools = [
            fixture.lookup(),
            HostTool("throws", description: "", inputSchema: ["type": "object"]) { _ in throw Broken() },
            HostTool("long", description: "", inputSchema: ["type": "object"]) { _ in
                ToolOutput(output: String(repeating: "ä", count: 1_000))
            },
            HostTool("slow", description: "", inputSchema: ["type": "object"]) { _ in
                try await Task.sleep(for: .seconds(60))
                return "never"
            },
        ]
        let model = ScriptedModel(
            .calls(
                ("lookup_itm", "{}"), ("lookup_item", #"{"sku":7}"#), ("throws", "{}"), ("long", "{}"),
                ("slow", "{}")), .text("done"))
        let harness = try fixture.harness(model, tools, limits: limits)
        let reply = try await harness.send("go")
        #expect(reply.text == "done")
        #expect(reply.calls.map(\.status) == [.failed, .failed, .failed, .completed, .failed])
        guard case .toolResults(let read) = await harness.transcript[2] else { throw NothingThere() }
        #expect(read[0].text == "No tool named lookup_itm. Did you mean lookup_item?")
        #expect(read[1].text.contains("are not valid for lookup_item") && read[1].text.contains("sku"))
        #expect(read[2].text.contains("the shelf fell down"))
        #expect(read[3].text.hasPrefix(String(repeating: "ä", count: 50)))
        #expect(read[3].text.contains("[cut: a part of 2000 bytes did not fit into 100 bytes]"))
        #expect(read[4].text.contains("took longer than"))
        #expect(read.map(\.isError) == [true, true, true, false, true])
    }

    /// A server that sends comments only, or pieces without content, never falls silent.
    @Test func anAnswerEnds() async throws {
        struct Endless: LanguageModel {
            func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error> {
                AsyncThrowingStream { _ in }
            }
        }
        var limits = HarnessLimits()
        limits.answerTimeout = .milliseconds(50)
        let harness = try fixture.harness(Endless(), [], limits: limits)
        await #expect(throws: HarnessError.model("the model has not finished its answer within 0.05 seconds"))
        {
            try await harness.send("go")
        }
        // The harness is ready for the next message.
        await #expect(throws: HarnessError.self) { try await harness.send("again") }
    }

    @Test func modelsThatFailOrFlood() async throws {
        var limits = HarnessLimits()
        limits.maxResponseBytes = 1_000
        let flood = ScriptedModel(.text(String(repeating: "x", count: 1_001)))
        await #expect(throws: HarnessError.responseTooLarge(limit: 1_000)) {
            try await fixture.harness(flood, [], limits: limits).send("go")
        }
        struct Failing: LanguageModel {
            func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error> {
                AsyncThrowingStream { $0.finish(throwing: HarnessError.model("out of tokens")) }
            }
        }
        let harness = try fixture.harness(Failing(), [])
        await #expect(throws: HarnessError.model("out of tokens")) { try await harness.send("go") }
    }

    /// Ids that a model uses twice, or leaves out, are told apart.
    @Test func idsAreUnique() async throws {
        let call = ModelEvent.toolCall(
            ModelToolCall(callID: "", name: "lookup_item", arguments: HarnessFixture.askFor))
        let model = ScriptedModel(.events { _ in [call, call, call] }, .text("done"))
        let reply = try await fixture.harness(model, [fixture.lookup()]).send("go")
        #expect(Set(reply.calls.map(\.invocation.callID)).count == 3)
    }

    @Test func callsWithoutAModel() async throws {
        let harness = try fixture.harness(ScriptedModel(), [fixture.lookup()])
        #expect(try await harness.call(tool: "lookup_item", arguments: ["sku": "B"]).text == "B: 12 in stock")
        #expect(try await harness.call(tool: "lookup_item", arguments: [:]).isError)
        await #expect(throws: HarnessError.unknownTool("nope")) { try await harness.call(tool: "nope") }
    }
}
