import MCPCore

/// `call`: types and checks the arguments according to the tool's schema, sends them, and shows the result.
struct CallCommand {
    let session: Session
    private var options: Options { session.options }

    func run(_ name: String, _ words: [String]) async throws(Failure) -> ExitCode {
        let arguments = try await arguments(name, words)
        let progress = ProgressLine(name: name, console: session.console)
        defer { progress?.finish() }
        // Progress is requested even when it is not shown: every report restarts `--timeout`.
        let result = try await session.request(
            "tools/call", ["name": .string(name), "arguments": .object(arguments)], about: name
        ) { progress?.show($0) }
        progress?.finish()
        return try show(result, name)
    }

    /// Returns the arguments. The schema is not needed when nothing is typed and nothing is checked.
    func arguments(_ name: String, _ words: [String]) async throws(Failure) -> JSONObject {
        let isWholeObject = words.count == 1 && words[0].hasPrefix("{")
        var schema: JSONValue = ["type": "object"]
        if !(options.noValidate && isWholeObject) {
            let tool = try await ToolLookup(session: session).tool(name)
            schema = tool["inputSchema"]?.value ?? schema
        }
        return try ArgumentReader(invocation: session.invocation, console: session.console)
            .read(words, name: name, schema: schema, input: session.environment.input)
    }

    private func show(_ result: RawJSON, _ name: String) throws(Failure) -> ExitCode {
        let decoded = try session.decode("tool result", result) { json throws(JSONError) in
            try CallToolResult(json: json)
        }
        if decoded.isError {
            if options.json { session.printer.printWire(result) }
            throw toolError(decoded, name)
        }
        if try session.printer.printJSON(result) { return .ok }
        var pieces: [ContentPiece] = []
        for block in decoded.content { pieces.append(try ContentPiece(block)) }
        if pieces.isEmpty, let structured = decoded.structuredContent {
            pieces.append(.text(structured.serialized(pretty: true)))
        }
        try session.printer.print(pieces)
        return .ok
    }

    private func toolError(_ result: CallToolResult, _ name: String) -> Failure {
        var text = result.text
        if text.isEmpty { text = result.structuredContent?.serialized() ?? "(no explanation)" }
        // The rest of a long line is left out only for a person.
        let isRead = session.console.stderr.isTerminal
        let shown = TerminalText.block(
            text.trimmingWhitespace(), maxLine: isRead ? TerminalText.maxLineLength : .max)
        return Failure(
            code: .toolError, kind: .toolError, message: "\(inlineText(name)) failed: \(shown)",
            hasPrefix: false)
    }
}
