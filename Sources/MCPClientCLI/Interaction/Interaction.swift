import MCPCore
import Synchronization

/// Answers the questions that servers ask back: from `--answer` and `--answers`, or by asking the person at
/// the terminal.
///
/// A question without an answer is remembered: whatever the server makes of that, the command ends with the
/// exit code for input that was required.
final class Interaction: Sendable {
    private let answers: JSONObject
    private let prompter: Prompter?
    private let subject: String
    private let unanswered = Mutex<[String]>([])

    /// - Parameters:
    ///   - answers: values by the name of the field.
    ///   - prompter: nil when nobody can be asked.
    init(answers: JSONObject, prompter: Prompter?, subject: String) {
        self.answers = answers
        self.prompter = prompter
        self.subject = subject
    }

    /// What the command has to fail with, if a question stayed open.
    var failure: Failure? {
        let questions = unanswered.withLock { $0 }
        return questions.isEmpty ? nil : InputRequired.failure(questions, subject: subject)
    }

    /// Answers one question.
    ///
    /// - Throws: `MCPError` when nobody can answer it, which ends the call in 2026-07-28 at once.
    func answer(_ request: ElicitRequest) async throws(MCPError) -> ElicitResult {
        if let url = request.url { return try await visit(url, request.message) }
        let form = request.schema ?? ElicitationSchema([])
        if let content = contentOfAnswers(form) { return .accept(content) }
        if let prompter { return await prompter.fillIn(form, message: request.message, given: answers) }
        throw unanswered(InputRequired.question(request))
    }

    /// The form filled in from the answers and the defaults; nil when that is not enough.
    ///
    /// Defaults alone answer nothing: somebody has to say yes.
    private func contentOfAnswers(_ form: ElicitationSchema) -> JSONObject? {
        var content = form.defaults()
        var isAnswered = false
        for (name, schema) in form.properties {
            guard let given = answers[name] else { continue }
            guard let value = FormField(name, schema).value(given) else { return nil }
            content[name] = value
            isAnswered = true
        }
        guard isAnswered, form.violations(of: content).isEmpty else { return nil }
        return content
    }

    private func visit(_ url: String, _ message: String) async throws(MCPError) -> ElicitResult {
        if let prompter { return await prompter.visit(url, message: message) }
        throw unanswered("\(quoted(message)) (open \(inlineText(url)))")
    }

    private func unanswered(_ question: String) -> MCPError {
        unanswered.withLock { $0.append(question) }
        return .internalError("Nobody is there to answer")
    }
}
