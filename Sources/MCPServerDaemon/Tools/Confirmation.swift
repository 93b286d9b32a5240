import MCPCore

/// The question that the user must accept before a command runs.
///
/// The answer is bound to the arguments: in 2026-07-28, the state that the client returns is valid for this
/// call alone and only once; in earlier revisions, the call itself waits.
enum Confirmation {
    /// The longest value of an argument in the question, in characters.
    private static let maxValue = 200

    /// Asks the user; returns the result that says why the command is not run, or `nil` if it is to run.
    ///
    /// - Throws: the errors of `RequestContext.elicit`, which are the response to the call.
    static func refusal(
        of tool: String, _ question: String, _ context: RequestContext
    ) async throws -> CallToolResult? {
        guard context.clientCapabilities.hasElicitation else {
            // In 2026-07-28, an error with a code of its own.
            do { try context.require(ClientCapabilities(elicitation: true)) } catch is ToolError {}
            return .error(
                "\(tool) was not run: it asks the user before it runs, and this client cannot ask "
                    + "(elicitation)")
        }
        context.dropUnaskedAnswers()
        switch try await context.elicit(question, ElicitationSchema([]), key: "confirm").action {
        case .accept:
            context.spendAnswers()
            return nil
        case .decline: return .error("\(tool) was not run: the user declined")
        default: return .error("\(tool) was not run: the user did not decide")
        }
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
