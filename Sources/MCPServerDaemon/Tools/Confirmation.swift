import MCPCore

/// The question that the user must accept before a command runs.
///
/// The answer is bound to the arguments, the question and the command: in 2026-07-28, the state that the
/// client returns is valid for this call alone and only for one run; in earlier revisions, the call itself
/// waits.
enum Confirmation {
    /// The longest value of an argument in the question, in characters.
    private static let maxValue = 200

    /// Asks the user; returns the result that says why the command is not run, or `nil` if it is to run.
    ///
    /// An accepted question stays accepted until `RequestContext.spendAnswers` is called, when the command
    /// begins: what ends before has run nothing. The caller calls `holdAnswers` for that.
    /// - Parameter run: what the user is asked about. If it has changed since, the user is asked again.
    /// - Throws: the errors of `RequestContext.elicit`, which are the response to the call.
    static func refusal(
        of tool: String, _ question: String, _ run: SHA256.Digest, _ context: RequestContext
    ) async throws -> CallToolResult? {
        guard context.clientCapabilities.hasElicitation else {
            // In 2026-07-28, an error with a code of its own.
            do { try context.require(ClientCapabilities(elicitation: true)) } catch is ToolError {}
            return .error(
                "\(tool) was not run: it asks the user before it runs, and this client cannot ask "
                    + "(elicitation)")
        }
        context.dropUnaskedAnswers()
        context.bindAnswers(to: run.bytes)
        let action = try await context.elicit(question, ElicitationSchema([]), key: "confirm").action
        if action == .accept { return nil }
        context.spendAnswers()
        return .error(
            "\(tool) was not run: " + (action == .decline ? "the user declined" : "the user did not decide"))
    }

    /// Returns the question. A value of the caller cannot add lines to it or hide part of it.
    static func text(
        _ template: TemplateText, _ values: ArgumentValues
    ) throws(ArgumentFailure) -> String {
        var text = ""
        for piece in template.pieces {
            switch piece {
            case .literal(let literal): text += literal
            case .argument(let name):
                text += TerminalText.inline(try values.text(name), limit: maxValue)
            }
        }
        return text
    }
}
