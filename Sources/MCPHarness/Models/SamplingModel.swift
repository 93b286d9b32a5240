import MCPCore
import Synchronization

/// The model of the MCP client that called this server (client/sampling).
///
/// Created by `SamplingRuns.run`. Sampling is deprecated in 2026-07-28 (SEP-2577): new programs should use a
/// model of their own. The client must offer `sampling.tools` if there are tools. The cost of an answer is
/// not reported.
public final class SamplingModel: LanguageModel {
    private let run: SampledRun
    private let maxTokens: Int

    init(_ run: SampledRun, maxTokens: Int) {
        self.run = run
        self.maxTokens = maxTokens
    }

    /// Requests an answer from the client's model. The answer arrives in one piece.
    public func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error> {
        let isAsked = Mutex(false)
        return ModelAnswer.stream { [run, maxTokens] in
            let isFirst = isAsked.withLock { isAsked in
                defer { isAsked = true }
                return !isAsked
            }
            guard isFirst else { return nil }
            return Self.events(try await run.ask(Self.question(request, maxTokens: maxTokens)))
        }
    }

    /// Converts the conversation to a sampling request: results are the only content of a user's message
    /// (SAMP-09).
    static func question(_ request: ModelRequest, maxTokens: Int) -> CreateMessageRequest {
        let messages = request.messages.map { message -> SamplingMessage in
            switch message {
            case .user(let text): .user(text)
            case .assistant(let text, let calls):
                SamplingMessage(
                    .assistant,
                    (text.isEmpty ? [] : [.text(text)])
                        + calls.map { .toolUse(ToolUse(id: $0.callID, name: $0.name, input: input($0))) })
            case .toolResults(let results):
                SamplingMessage(
                    .user,
                    results.map {
                        .toolResult(
                            ToolUseResult(toolUseID: $0.callID, content: $0.content, isError: $0.isError))
                    })
            }
        }
        var question = CreateMessageRequest(messages, maxTokens: maxTokens, systemPrompt: request.system)
        question.tools = request.tools
        return question
    }

    /// Returns the model's arguments; arguments that were not an object were answered with an error.
    private static func input(_ call: ModelToolCall) -> JSONObject {
        (try? JSONValue(parsing: call.arguments))?.objectValue ?? [:]
    }

    static func events(_ answer: CreateMessageResult) -> [ModelEvent] {
        let content = answer.content.compactMap { block -> ModelEvent? in
            if let use = block.toolUse {
                let arguments = JSONValue.object(use.input).serialized()
                return .toolCall(ModelToolCall(callID: use.id, name: use.name, arguments: arguments))
            }
            return block.text.map { .textDelta($0) }
        }
        return content + [.stop(answer.stopReason ?? "endTurn")]
    }
}
