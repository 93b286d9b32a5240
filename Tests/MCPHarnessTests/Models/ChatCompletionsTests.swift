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

/// What servers make of the chat completions interface.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ChatCompletionsTests {
    private let fixture = HarnessFixture()

    private static func chunk(_ delta: String, _ reason: String = "null") -> String {
        #"{"choices":[{"index":0,"delta":\#(delta),"finish_reason":\#(reason)}]}"#
    }

    private static func calls(_ calls: String...) -> [String] {
        calls.map { chunk(#"{"tool_calls":[\#($0)]}"#) }
    }

    private static func reader(_ chunks: [String], limit: Int = 1_000) throws -> (
        events: [ModelEvent], ChatCompletionsReader
    ) {
        var reader = ChatCompletionsReader(ChatCompletionsNames(ModelRequest(messages: [])), limit: limit)
        var events: [ModelEvent] = []
        for chunk in chunks { events += try reader.take(ByteSlice(Array(chunk.utf8))) }
        return (events, reader)
    }

    private static func whole(_ chunks: [String]) throws -> [ModelToolCall] {
        var (_, reader) = try reader(chunks + ["[DONE]"])
        return try reader.finish().compactMap { if case .toolCall(let call) = $0 { call } else { nil } }
    }

    private static func model(_ peer: HTTPPeer) -> ChatCompletionsModel {
        ChatCompletionsModel("http://\(peer.endpoint)/v1", model: "m")
    }

    private static func stream(_ chunks: [String]) -> String {
        chunks.map { "data: \($0)\n\n" }.joined()
    }

    /// Servers of models parse the arguments again: what is no object would fail every later request.
    @Test(arguments: [("{bad", "{}"), ("", "{}"), ("[1]", "{}"), (#"{"x": 1.50}"#, #"{"x": 1.50}"#)])
    func argumentsAreSentBackAsJSON(written: String, sent: String) {
        let call = ModelToolCall(callID: "a", name: "one", arguments: written)
        let request = ModelRequest(messages: [.user("x"), .assistant("", [call])])
        let json = ChatCompletionsRequest.json(request, model: "m", [:])
        let function = json["messages"]?[1]?["tool_calls"]?[0]?["function"]
        #expect(function?["arguments"]?.stringValue == sent)
    }

    @Test func anErrorThatIsNoneIsNone() throws {
        let (events, _) = try Self.reader([
            #"{"error":null,"choices":[{"delta":{"content":"hi"}}]}"#
        ])
        #expect(events == [.textDelta("hi")])
        #expect(throws: HarnessError.self) { try Self.reader([#"{"error":{"message":"no"}}"#]) }
    }

    @Test func callsOfTheSameIndexAreToldApart() throws {
        let calls = try Self.whole(
            Self.calls(
                #"{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\""}}"#,
                #"{"index":0,"id":"a","function":{"arguments":":1}"}}"#,
                #"{"index":0,"id":"b","function":{"name":"two","arguments":"{"}}"#,
                #"{"index":0,"function":{"arguments":"}"}}"#))
        #expect(
            calls == [
                ModelToolCall(callID: "a", name: "one", arguments: #"{"x":1}"#),
                ModelToolCall(callID: "b", name: "two", arguments: "{}"),
            ])
    }

    @Test func piecesWithoutAnIndexGoOn() throws {
        let calls = try Self.whole(
            Self.calls(
                #"{"id":"a","function":{"name":"one","arguments":"{"}}"#,
                #"{"id":"b","function":{"name":"two","arguments":"{"}}"#,
                #"{"id":"a","function":{"arguments":"}"}}"#, #"{"function":{"arguments":" }"}}"#,
                #"{"function":{"name":"three","arguments":"{}"}}"#))
        #expect(calls.map(\.name) == ["one", "two", "three"])
        #expect(calls.map(\.arguments) == ["{}", "{ }", "{}"])
        #expect(Set(calls.map(\.callID)).count == 3)
    }

    /// Some servers repeat the name in each piece; others send it in parts.
    @Test func aNameThatIsRepeatedIsOne() throws {
        let calls = try Self.whole(
            Self.calls(
                #"{"index":0,"id":"a","function":{"name":"ro","arguments":"{"}}"#,
                #"{"index":0,"id":"a","function":{"name":"ro","arguments":"}"}}"#,
                #"{"index":1,"id":"b","function":{"name":"read_","arguments":""}}"#,
                #"{"index":1,"id":"b","function":{"name":"file","arguments":"{}"}}"#))
        #expect(calls.map(\.name) == ["ro", "read_file"])
        #expect(calls.map(\.arguments) == ["{}", "{}"])
    }

    /// Content may come in parts, as that of a request.
    @Test func contentInPartsIsText() throws {
        let (events, _) = try Self.reader([
            #"{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"image_url"},"b"]}}]}"#
        ])
        #expect(events == [.textDelta("ab")])
    }

    /// Calls with one id, or none, and each with an index, are several.
    @Test(arguments: ["", #""id":"a","#]) func indexesTellApart(_ id: String) throws {
        let calls = try Self.whole(
            Self.calls(
                #"{"index":1,\#(id)"function":{"name":"two","arguments":"{"}}"#,
                #"{"index":0,\#(id)"function":{"name":"one","arguments":"{"}}"#,
                #"{"index":1,\#(id)"function":{"arguments":"2}"}}"#,
                #"{"index":0,\#(id)"function":{"arguments":"1}"}}"#))
        #expect(calls.map(\.name) == ["one", "two"])
        #expect(calls.map(\.arguments) == ["{1}", "{2}"])
        #expect(Set(calls.map(\.callID)).count == 2)
    }

    /// An id that comes late changes nothing of what was told.
    @Test func piecesHaveTheIDOfTheirCall() throws {
        let chunks = Self.calls(
            #"{"index":0,"function":{"name":"one","arguments":"{"}}"#,
            #"{"index":0,"id":"late","function":{"arguments":"}"}}"#)
        var (events, reader) = try Self.reader(chunks + ["[DONE]"])
        events += try reader.finish()
        let ids = events.compactMap { event -> String? in
            switch event {
            case .toolCallDelta(let id, _, _): id
            case .toolCall(let call): call.callID
            default: nil
            }
        }
        #expect(ids.count == 3 && Set(ids).count == 1)
    }

    @Test func answersAreLimited() throws {
        let piece = Self.calls(#"{"index":0,"id":"","function":{"arguments":"0123456789"}}"#)[0]
        #expect(throws: HarnessError.responseTooLarge(limit: 1_000)) {
            try Self.reader(Array(repeating: piece, count: 101))
        }
        #expect(try Self.reader(Array(repeating: piece, count: 100)).events.count == 100)
        #expect(throws: HarnessError.responseTooLarge(limit: 10)) {
            try Self.reader([Self.chunk(#"{"refusal":"I shall not do that."}"#)], limit: 10)
        }
        let many = Self.calls(#"{"index":0,"function":{"name":"x","arguments":""}}"#)[0]
        #expect(throws: HarnessError.tooManyCalls) {
            try Self.reader(
                (0 ... 1_024).map {
                    many.replacing(#""index":0,"function""#, with: "\"index\":\($0),\"function\"")
                },
                limit: 100_000)
        }
    }

    /// The time grows with the length, not with its square.
    @Test func manyPiecesAreNoWork() throws {
        let text = String(repeating: "x", count: 4_000)
        let piece = ByteSlice(
            Array(Self.calls(#"{"index":0,"function":{"arguments":"\#(text)"}}"#)[0].utf8))
        func time(_ count: Int) throws -> Duration {
            var reader = ChatCompletionsReader(ChatCompletionsNames(ModelRequest(messages: [])))
            return try threadTime { for _ in 0 ..< count { _ = try reader.take(piece) } }
        }
        let short = try time(250)
        #expect(try time(4_000) < short * 40)
    }

    @Test func refusalsAreRead() async throws {
        let peer = try HTTPPeer { _ in
            .events(
                Self.stream([
                    Self.chunk(#"{"content":null,"refusal":"I shall "}"#), Self.chunk(#"{"refusal":"not."}"#),
                    Self.chunk("{}", #""stop""#), "[DONE]",
                ]))
        }
        defer { peer.stop() }
        #expect(try await fixture.harness(Self.model(peer), []).send("go").text == "I shall not.")
    }

    @Test(arguments: ["length", "content_filter"]) func cutAnswersAreToldOf(_ reason: String) async throws {
        let peer = try HTTPPeer { _ in
            .events(Self.stream([Self.chunk(#"{"content":"ha"}"#, "\"\(reason)\""), "[DONE]"]))
        }
        defer { peer.stop() }
        let (events, error) = await HarnessFixture.events(try fixture.harness(Self.model(peer), []))
        #expect(error == nil)
        #expect(events.map(\.word) == ["text", "warning", "end"])
    }

    /// No end mark and no end of the connection: the answer is there all the same.
    @Test(arguments: [false, true]) func serversThatDoNotEnd(_ tellsUsage: Bool) async throws {
        let usage = #"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}"#
        let chunks =
            [Self.chunk(#"{"content":"hi"}"#), Self.chunk("{}", #""stop""#)] + (tellsUsage ? [usage] : [])
        let peer = try HTTPPeer { _ in .events(Self.stream(chunks), end: false, then: .hang) }
        defer { peer.stop() }
        var model = Self.model(peer)
        model.silence = .seconds(10)
        model.afterwards = .milliseconds(300)
        let reply = try await fixture.harness(model, []).send("go")
        #expect(reply.text == "hi")
        #expect(reply.usage.outputTokens == (tellsUsage ? 7 : 0))
    }

    /// Chunks without content are silence, however many there are; what a model thinks is none.
    @Test(arguments: [
        (#"{"choices":[]}"#, true), (chunk(#"{"role":"assistant","content":""}"#), true),
        (chunk(#"{"reasoning_content":"hm"}"#), false),
    ])
    func chunksWithoutContentAreSilence(_ chunk: String, _ isSilence: Bool) async throws {
        let end = [Self.chunk(#"{"content":"hi"}"#), Self.chunk("{}", #""stop""#), "[DONE]"]
        let chunks = Array(repeating: chunk, count: 40) + end
        func texts(_ silence: Duration) async throws -> [ModelEvent] {
            let answer = ChatCompletionsAnswer(
                ChatCompletionsReader(ChatCompletionsNames(ModelRequest(messages: []))),
                ModelRetries(
                    model: "m", url: "http://x", maximum: 0, firstPause: .zero, longestPause: .zero),
                silence: silence
            ) {
                AsyncThrowingStream { continuation in
                    for chunk in chunks {
                        continuation.yield(SSEEvent(data: ByteSlice(Array(chunk.utf8))))
                    }
                    continuation.finish()
                }
            } rest: { _ in
                []
            }
            var texts: [ModelEvent] = []
            while let events = try await answer.next() { texts += events }
            return texts
        }
        #expect(try await texts(.seconds(30)).first == .textDelta("hi"))
        // Any time at all is too long.
        if isSilence {
            let error = await #expect(throws: HarnessError.self) { try await texts(.zero) }
            #expect(error?.description.contains("no part of an answer") == true)
        } else {
            #expect(try await texts(.zero).first == .textDelta("hi"))
        }
    }

    /// Whoever sends the end mark is not waited for.
    @Test func theEndMarkEnds() async throws {
        let chunks = [Self.chunk(#"{"content":"hi"}"#, #""stop""#), "[DONE]"]
        let peer = try HTTPPeer { _ in .events(Self.stream(chunks), end: false, then: .hang) }
        defer { peer.stop() }
        var model = Self.model(peer)
        model.afterwards = .seconds(1_000)
        #expect(try await fixture.harness(model, []).send("go").text == "hi")
    }

    // MARK: Names

    @Test func namesAreMapped() throws {
        let long = String(repeating: "x", count: 80)
        let tools = ["files.read", "files_read", "files/read", "", long, long + "y", "größe"].map { Tool($0) }
        let past = ModelMessage.assistant(
            "", [ModelToolCall(callID: "c", name: "no such", arguments: "{}")])
        let request = ModelRequest(messages: [past], tools: tools)
        let names = ChatCompletionsNames(request)
        let sent = names.sent(request)
        let all = sent.tools.map(\.name)
        #expect(all[1] == "files_read")
        #expect(all[0] == "files_read_2" && all[2] == "files_read_3")
        #expect(Set(all).count == tools.count)
        for name in all {
            #expect(name.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil)
        }
        #expect(all.map(names.own) == tools.map(\.name))
        guard case .assistant(_, let calls)? = sent.messages.first else { throw NothingThere() }
        #expect(calls.map(\.name) == ["no_such"])
        #expect(names.own("unknown") == "unknown")
    }

    @Test func toolsAreCalledByTheirNames() async throws {
        let runs = fixture.runs
        let tools = ["files.read", "files_read"].map { name in
            HostTool(name, description: "", inputSchema: ["type": "object"]) { _ in
                runs.add(name)
                return "ok"
            }
        }
        let calling = Self.calls(
            #"{"index":0,"id":"a","function":{"name":"files_read_2","arguments":"{}"}}"#)
        let peer = try HTTPPeer { heard in
            let hasResult = heard.body?["messages"]?[3] != nil
            return .events(
                Self.stream(
                    hasResult ? [Self.chunk(#"{"content":"done"}"#), "[DONE]"] : calling + ["[DONE]"]))
        }
        defer { peer.stop() }
        let (events, _) = await HarnessFixture.events(try fixture.harness(Self.model(peer), tools))
        #expect(runs.all == ["files.read"])
        #expect(
            events.contains { if case .toolInputDelta(_, "files.read", _) = $0 { true } else { false } })
        let second = try #require(peer.heard.last?.body?.value)
        #expect(second["messages"]?[2]?["tool_calls"]?[0]?["function"]?["name"] == "files_read_2")
    }
}
