import MCPCore

/// `prompt`: shows a prompt with its arguments filled in.
struct PromptCommand {
    let session: Session

    func run(_ name: String, _ words: [String]) async throws(Failure) {
        let arguments = try await arguments(name, words)
        var params: JSONObject = ["name": .string(name)]
        if !arguments.isEmpty { params["arguments"] = .object(arguments) }
        let result = try await session.request("prompts/get", params, about: name)
        if try session.printer.printJSON(result) { return }
        let prompt = try session.decode("prompt result", result) { json throws(JSONError) in
            try GetPromptResult(json: json)
        }
        var pieces: [ContentPiece] = []
        for (index, message) in prompt.messages.enumerated() {
            if !session.options.raw {
                pieces.append(.line((index > 0 ? "\n" : "") + "[\(inlineText(message.role.rawValue))]"))
            }
            pieces.append(try ContentPiece(message.content))
        }
        try session.printer.print(pieces)
    }

    private func arguments(_ name: String, _ words: [String]) async throws(Failure) -> JSONObject {
        let raw = try await ToolLookup(session: session).prompt(name)
        let prompt = try session.decode("prompt", raw) { json throws(JSONError) in try Prompt(json: json) }
        let reader = ArgumentReader(invocation: session.invocation, console: session.console)
        return try reader.read(
            words, name: name, schema: Self.schema(prompt), input: session.environment.input)
    }

    /// Returns a schema for a prompt, which lists its arguments without one; all of them are strings
    /// (server/prompts).
    static func schema(_ prompt: Prompt) -> JSONValue {
        var properties: JSONObject = [:]
        for argument in prompt.arguments { properties[argument.name] = ["type": "string"] }
        let required = prompt.arguments.filter(\.required).map { JSONValue.string($0.name) }
        return [
            "type": "object", "properties": .object(properties), "required": .array(required),
            "additionalProperties": false,
        ]
    }
}
