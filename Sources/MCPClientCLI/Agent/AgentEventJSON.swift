import MCPCore
import MCPHarness

/// Events as JSON: `{"event": …}` with the members of each event.
enum AgentEventJSON {
    static func json(_ event: HarnessEvent) -> JSONValue {
        switch event {
        case .textDelta(let text): ["event": "text", "delta": .string(text)]
        case .usage(let usage): ["event": "usage", "usage": json(usage)]
        case .roundStarted(let round): ["event": "round", "round": JSONValue(round)]
        case .toolInputDelta(let id, let name, let partial):
            object([
                ("event", "toolInput"), ("callId", .string(id)), ("name", name.map(JSONValue.string)),
                ("partialArguments", .string(partial)),
            ])
        case .toolCallRequested(let request):
            object([
                ("event", "toolCallRequested"), ("call", json(request.invocation)),
                ("requestedBy", .string("\(request.requestedBy)")), ("tool", request.tool.map(json)),
                ("policy", .string(word(request.policy))), ("scopes", scopes(request.policy)),
            ])
        case .approvalRequested(let request): json("approvalRequested", request)
        case .approvalRemembered(let request): json("approvalRemembered", request)
        case .externalSources(let id): ["event": "externalSources", "callId": .string(id)]
        case .toolProgress(let id, let progress):
            object([
                ("event", "toolProgress"), ("callId", .string(id)),
                ("progress", JSONValue(progress.progress)),
                ("total", progress.total.map { JSONValue($0) }),
                ("message", progress.message.map(JSONValue.string)),
            ])
        case .toolCallCompleted(let result): ["event": "toolCallCompleted", "result": json(result)]
        case .warning(let text): ["event": "warning", "message": .string(text)]
        case .completed(let reply): ["event": "completed", "reply": json(reply)]
        }
    }

    private static func json(_ event: JSONValue, _ request: ApprovalRequest) -> JSONValue {
        object([
            ("event", event), ("call", json(request.invocation)), ("tool", json(request.tool)),
            ("sourceName", .string(request.sourceName)), ("isTrusted", .bool(request.isTrusted)),
            ("scopes", scopes(request.policy)),
            ("timeoutMs", request.toolTimeout.map { JSONValue($0.milliseconds) }),
        ])
    }

    /// Returns an object with those members that have a value.
    private static func object(_ members: [(String, JSONValue?)]) -> JSONValue {
        var object: JSONObject = [:]
        for (name, value) in members { object[name] = value }
        return .object(object)
    }

    private static func json(_ tool: Tool) -> JSONValue {
        object([
            ("name", .string(tool.name)), ("title", tool.title.map(JSONValue.string)),
            ("description", tool.description.map(JSONValue.string)),
        ])
    }

    static func json(_ reply: HarnessReply) -> JSONValue {
        [
            "text": .string(reply.text), "rounds": JSONValue(reply.rounds),
            "calls": .array(reply.calls.map(json)), "usage": json(reply.usage),
        ]
    }

    private static func json(_ invocation: ToolInvocation) -> JSONValue {
        [
            "callId": .string(invocation.callID), "source": .string(invocation.source.name),
            "name": .string(invocation.name), "arguments": .string(invocation.arguments),
        ]
    }

    private static func json(_ result: ToolExecutionResult) -> JSONValue {
        [
            "call": json(result.invocation), "status": .string(result.status.rawValue),
            "text": .string(result.output.text), "durationMs": JSONValue(result.duration / .milliseconds(1)),
            "approvalMs": JSONValue(result.approvalDuration / .milliseconds(1)),
        ]
    }

    private static func json(_ usage: ModelUsage) -> JSONValue {
        ["inputTokens": JSONValue(usage.inputTokens), "outputTokens": JSONValue(usage.outputTokens)]
    }

    private static func word(_ policy: ToolPolicy) -> String {
        switch policy {
        case .automatic: "automatic"
        case .ask: "ask"
        case .deny: "deny"
        }
    }

    private static func scopes(_ policy: ToolPolicy) -> JSONValue {
        .array(policy.scopes.sorted().map { .string($0.name) })
    }
}
