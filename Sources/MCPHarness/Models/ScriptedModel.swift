import Synchronization

/// A model that follows a script, for tests and examples, and for trying out a harness without a model.
public final class ScriptedModel: LanguageModel {
    /// A scripted answer.
    public struct Step: Sendable {
        let events: @Sendable (ModelRequest) -> [ModelEvent]

        /// Creates a step that answers with a text.
        public static func text(_ text: String) -> Step { Step { _ in [.textDelta(text), .stop("stop")] } }

        /// Creates a step with calls, given as tool names and arguments as text. Their IDs, such as
        /// `call_1_1`, consist of the number of messages so far and the number of the call.
        public static func calls(_ calls: (String, String)...) -> Step {
            Step { request in
                let round = request.messages.count
                return calls.enumerated().map { index, call in
                    .toolCall(
                        ModelToolCall(
                            callID: "call_\(round)_\(index + 1)", name: call.0, arguments: call.1))
                } + [.stop("tool_calls")]
            }
        }

        /// Creates a step whose events are computed from the request.
        public static func events(_ events: @escaping @Sendable (ModelRequest) -> [ModelEvent]) -> Step {
            Step(events: events)
        }
    }

    private let steps: [Step]
    private let asked = Mutex<[ModelRequest]>([])

    /// Creates a model that performs the steps in order and repeats the last one.
    public init(_ steps: Step...) { self.steps = steps }

    /// Creates a model that performs the steps in order and repeats the last one.
    public init(_ steps: [Step]) { self.steps = steps }

    /// The requests that the model has received so far.
    public var requests: [ModelRequest] { asked.withLock { $0 } }

    /// Returns the events of the next step.
    public func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error> {
        let number = asked.withLock { asked in
            asked.append(request)
            return asked.count - 1
        }
        let events = steps.isEmpty ? [] : steps[min(number, steps.count - 1)].events(request)
        return AsyncThrowingStream(bufferingPolicy: .bufferingOldest(max(1, events.count))) { continuation in
            for event in events { continuation.yield(event) }
            continuation.finish()
        }
    }
}
