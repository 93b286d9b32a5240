import MCPCore

/// `prompt`: shows a prompt with its arguments filled in.
struct PromptCommand {
    let session: Session

    func run(_ name: String, _ words: [String]) async throws(Failure) {
        if words.contains("--help"), try await showsHelp(name) { return }
        let arguments = try await arguments(name, words)
        var params: JSONObject = ["name": .string(name)]
        if !arguments.isEmpty { params["arguments"] = .object(arguments) }
        if try session.isOnlyShown("prompts/get", params) { return }
        let result = try await session.request("prompts/get", params, about: name)
        if try session.printer.printJSON(result) { return }
        let answer = try session.decode("prompt result", result) { json throws(JSONError) in
            try GetPromptResult(json: json)
        }
        var pieces: [ContentPiece] = []
        for (index, message) in answer.messages.enumerated() {
            if !session.options.raw {
                pieces.append(.line((index > 0 ? "\n" : "") + "[\(inlineText(message.role.rawValue))]"))
            }
            pieces.append(ContentPiece(message.content))
        }
        try session.printer.print(pieces)
    }

    /// Shows the prompt; returns false for one that has an argument `help`.
    private func showsHelp(_ name: String) async throws(Failure) -> Bool {
        let (raw, prompt) = try await lookup(name)
        guard !prompt.arguments.contains(where: { $0.name == "help" }) else { return false }
        if try !session.printer.printJSON(raw) { show(prompt) }
        return true
    }

    private func lookup(_ name: String) async throws(Failure) -> (raw: RawJSON, prompt: Prompt) {
        let raw = try await ToolLookup(session: session).prompt(name)
        let prompt = try session.decode("prompt", raw) { json throws(JSONError) in try Prompt(json: json) }
        return (raw, prompt)
    }

    private func arguments(_ name: String, _ words: [String]) async throws(Failure) -> JSONObject {
        let input = session.environment.input.rereadable
        return try await session.withFreshLists { () throws(Failure) in
            let prompt = try await lookup(name).prompt
            let reader = ArgumentReader(invocation: session.invocation, console: session.console)
            return try reader.read(words, name: name, schema: Self.schema(prompt), input: input)
        }
    }

    /// Shows the prompt and its arguments.
    private func show(_ prompt: Prompt) {
        let console = session.console
        console.line(console.style.bold(Signature.prompt(prompt)))
        if let text = prompt.description { console.line("    " + inlineText(text)) }
        let rows = prompt.arguments.map { argument in
            [
                inlineText(argument.name), argument.required ? "required" : "",
                argument.description.map { inlineText($0) } ?? "",
            ]
        }
        if !rows.isEmpty { console.line("\narguments") }
        for line in ToolCommand.columns(rows) { console.line("  " + line) }
        let words = ArgumentCheck(name: prompt.name, schema: Self.schema(prompt)).usageWords()
        let line = session.invocation.line("prompt", [ShellWord.quote(prompt.name)] + words)
        console.line("\nusage: " + line)
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
