import Synchronization

/// A model that says what it was told to say: for tests and examples, and to try a harness without a model.
public final class ScriptedModel: LanguageModel {
    /// What it says in one answer.
    public struct Step: Sendable {
        let events: @Sendable (ModelRequest) -> [ModelEvent]

        /// A text.
        public static func text(_ text: String) -> Step { Step { _ in [.textDelta(text), .stop("stop")] } }

        /// Calls, by tool and arguments as text; their ids are `call_1` and so on, anew in each answer.
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

        /// Anything, worked out from what the model is asked.
        public static func events(_ events: @escaping @Sendable (ModelRequest) -> [ModelEvent]) -> Step {
            Step(events: events)
        }
    }

    private let steps: [Step]
    private let asked = Mutex<[ModelRequest]>([])

    /// A model that takes one step after the other and repeats the last one.
    public init(_ steps: Step...) { self.steps = steps }

    /// A model that takes one step after the other and repeats the last one.
    public init(_ steps: [Step]) { self.steps = steps }

    /// What it was asked so far.
    public var requests: [ModelRequest] { asked.withLock { $0 } }

    /// The next step.
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
