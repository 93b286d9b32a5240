import Synchronization
import TestSupport
import Testing

@testable import MCPCore
@testable import MCPHarness

/// A model server that is busy, fails, or is not there.
@Suite(.timeLimit(.minutes(5))) struct ModelServerTests {
    private let fixture = HarnessFixture()
    private static let answer =
        #"data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"# + "\n\ndata: [DONE]\n\n"

    private static func model(_ endpoint: String) -> ChatCompletionsModel {
        var model = ChatCompletionsModel("http://\(endpoint)/v1", model: "qwen3")
        model.firstPause = .milliseconds(5)
        return model
    }

    private func turn(_ peer: HTTPPeer, _ change: (inout ChatCompletionsModel) -> Void = { _ in })
        async throws
        -> ([HarnessEvent], (any Error)?)
    {
        var model = Self.model(peer.endpoint)
        change(&model)
        return await HarnessFixture.events(try fixture.harness(model, []))
    }

    private static func warnings(_ events: [HarnessEvent]) -> [String] {
        events.compactMap { if case .warning(let text) = $0 { text } else { nil } }
    }

    // D2
    @Test(arguments: [429, 500, 502, 503, 529]) func failuresThatPass(_ status: Int) async throws {
        let peer = try HTTPPeer { heard in
            heard.connection + heard.number > 3
                ? .events(Self.answer)
                : .json(#"{"error":{"message":"busy now"}}"#, status: status)
        }
        defer { peer.stop() }
        let (events, error) = try await turn(peer)
        #expect(error == nil)
        let warnings = Self.warnings(events)
        #expect(!warnings.isEmpty)
        let start =
            "the model qwen3 at http://\(peer.endpoint)/v1/chat/completions answered HTTP \(status): busy now"
        for warning in warnings {
            #expect(warning.hasPrefix(start) && warning.contains("; trying again in "), "\(warning)")
        }
        guard case .completed(let reply)? = events.last else { throw NothingThere() }
        #expect(reply.text == "hi")
    }

    /// A server may repeat the key: no error and no warning does.
    @Test(arguments: [401, 400, 503, 200]) func theKeyIsNotRepeated(_ status: Int) async throws {
        let key = "sk-very-secret-key-1234"
        let body = #"{"error":{"message":"Incorrect API key provided: \#(key)"}}"#
        let peer = try HTTPPeer { _ in
            status == 200 ? .events("data: \(body)\n\n") : .json(body, status: status)
        }
        defer { peer.stop() }
        var model = ChatCompletionsModel("http://\(peer.endpoint)/v1", model: "qwen3", key: key)
        model.firstPause = .milliseconds(5)
        let (events, error) = await HarnessFixture.events(try fixture.harness(model, []))
        let told = Self.warnings(events) + ["\(try #require(error))"]
        #expect(told.count == (status == 503 ? 4 : 1))
        for text in told {
            #expect(text.contains("key provided: [redacted]") && !text.contains(key), "\(text)")
        }
    }

    @Test func connectionsThatBreakBeforeTheAnswer() async throws {
        let count = Atomic(0)
        let peer = try HTTPPeer { _ in
            count.add(1, ordering: .relaxed).oldValue < 2 ? .raw(then: .reset) : .events(Self.answer)
        }
        defer { peer.stop() }
        let (events, error) = try await turn(peer)
        #expect(error == nil)
        #expect(Self.warnings(events).count >= 1)
    }

    @Test func attemptsAreLimited() async throws {
        let peer = try HTTPPeer { _ in .json("{}", status: 503) }
        defer { peer.stop() }
        let (events, error) = try await turn(peer) { $0.maxRetries = 2 }
        let failure = try #require(error as? ModelServerError)
        #expect(failure.attempts == 3 && Self.warnings(events).count == 2 && peer.heard.count == 3)
        #expect(failure.message.hasSuffix("answered HTTP 503: {} (3 attempts)"), "\(failure.message)")
        #expect(failure.hint == "the model server has a problem: try again later")
    }

    @Test func theServerSaysWhen() async throws {
        let count = Atomic(0)
        let peer = try HTTPPeer { _ in
            count.add(1, ordering: .relaxed).oldValue == 0
                ? .json("{}", status: 429, headers: "Retry-After: 1\r\n") : .events(Self.answer)
        }
        defer { peer.stop() }
        let (events, error) = try await turn(peer)
        #expect(error == nil)
        #expect(Self.warnings(events).first?.hasSuffix("; trying again in 1 s") == true)
        let times = peer.heard.map(\.at)
        #expect(times.count == 2 && times[1] - times[0] >= .milliseconds(990))
    }

    @Test(arguments: [("3600", 3_600), ("Sun, 21 Oct 2125 07:28:00 GMT", 31_536_000)])
    func aPauseThatIsTooLongIsReported(asked: String, seconds: Int) async throws {
        let peer = try HTTPPeer { _ in .json("{}", status: 429, headers: "Retry-After: \(asked)\r\n") }
        defer { peer.stop() }
        let (events, error) = try await turn(peer)
        let failure = try #require(error as? ModelServerError)
        #expect(failure.hint == "it asks to wait \(seconds) s before the next request")
        #expect(failure.attempts == 1 && Self.warnings(events).isEmpty)
    }

    @Test(arguments: [
        (400, "check the parameters"), (401, "check the key"), (403, "check the key"),
        (404, "check the name of the model"), (413, "start a new one"),
    ])
    func failuresThatDoNotPass(_ status: Int, _ hint: String) async throws {
        let peer = try HTTPPeer { _ in .json(#"{"error":"no such model"}"#, status: status) }
        defer { peer.stop() }
        let (events, error) = try await turn(peer)
        let failure = try #require(error as? ModelServerError)
        #expect(failure.message.contains("the model qwen3 at http://"))
        #expect(failure.message.contains("HTTP \(status): no such model"), "\(failure)")
        #expect(failure.hint?.contains(hint) == true, "\(failure)")
        #expect(peer.heard.count == 1 && events.isEmpty)
    }

    @Test func aServerThatIsNotThere() async throws {
        let peer = try HTTPPeer { _ in .status(200) }
        let endpoint = peer.endpoint
        peer.stop()
        var model = Self.model(endpoint)
        model.maxRetries = 1
        let (events, error) = await HarnessFixture.events(try fixture.harness(model, []))
        let failure = try #require(error as? ModelServerError)
        #expect(failure.cause.kind == .cannotConnect && failure.attempts == 2)
        #expect(failure.hint == "is the model server running, and is this its address?")
        #expect(Self.warnings(events).count == 1)
    }

    /// A part of an answer has been read: what follows is not a repetition of it.
    @Test func brokenAnswersAreNotRepeated() async throws {
        let part = #"data: {"choices":[{"delta":{"content":"half of it"}}]}"# + "\n\n"
        let peer = try HTTPPeer { _ in .events(part, end: false, then: .reset) }
        defer { peer.stop() }
        let (events, error) = try await turn(peer)
        #expect(events.map(\.word) == ["text"] && peer.heard.count == 1)
        let failure = try #require(error as? ModelServerError)
        #expect(failure.message.contains("broke off its answer"), "\(failure)")
        #expect(failure.hint == "send the message again")
    }

    @Test func pausesCanBeCancelled() async throws {
        let peer = try HTTPPeer { _ in .json("{}", status: 503, headers: "Retry-After: 50\r\n") }
        defer { peer.stop() }
        let handle = try fixture.harness(Self.model(peer.endpoint), []).streamHandle("go")
        var isCancelled = false
        do {
            for try await event in handle.events {
                if case .warning = event { handle.cancel() }
            }
        } catch is CancellationError { isCancelled = true }
        #expect(isCancelled && peer.heard.count == 1)
    }

    @Test func addressesAreShownWithoutSecrets() {
        #expect(ModelServerError.shown("https://u:p@a.example/v1?key=k#x") == "https://a.example/v1")
        #expect(ModelServerError.shown("http://a.example/v1/@x") == "http://a.example/v1/@x")
        #expect(ModelServerError.shown("nonsense") == "nonsense")
    }

    // D6
    @Test func argumentsThatAreAnObject() async throws {
        let chunk: @Sendable (String) -> String = { arguments in
            #"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":"#
                + #"{"name":"lookup_item","arguments":\#(arguments)}}]},"finish_reason":"tool_calls"}]}"#
                + "\n\ndata: [DONE]\n\n"
        }
        let peer = try HTTPPeer { heard in
            heard.text.contains(#""role":"tool""#) ? .events(Self.answer) : .events(chunk(#"{"sku":"Z"}"#))
        }
        defer { peer.stop() }
        let harness = try fixture.harness(Self.model(peer.endpoint), [fixture.lookup()])
        let reply = try await harness.send("go")
        #expect(fixture.runs.all == ["run Z"])
        #expect(reply.calls.map(\.invocation.arguments) == [#"{"sku":"Z"}"#])
    }
}
