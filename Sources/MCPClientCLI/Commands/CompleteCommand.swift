import MCPCore

/// `complete`: the values that a server proposes for an argument.
struct CompleteCommand {
    let session: Session

    /// - Parameter subject: `prompt:NAME`, or a resource template.
    func run(_ subject: String, _ argument: String, _ prefix: String) async throws(Failure) {
        let reference: JSONValue =
            subject.hasPrefix("prompt:")
            ? CompletionReference.prompt(String(subject.dropFirst("prompt:".count))).json
            : CompletionReference.resource(subject).json
        let result = try await session.request(
            "completion/complete",
            ["ref": reference, "argument": ["name": .string(argument), "value": .string(prefix)]],
            about: argument)
        if try session.printer.printJSON(result) { return }
        let completion = try session.decode("completion", result) { json throws(JSONError) in
            try CompletionResult(json: json["completion"] ?? .null)
        }
        for value in completion.values { session.console.line(inlineText(value)) }
        let total = completion.total.map { " of \($0)" } ?? (completion.hasMore == true ? ", and more" : "")
        session.console.note(
            session.console.noteStyle.dim("\(completion.values.count)\(total) · \(session.identity)"))
    }
}
