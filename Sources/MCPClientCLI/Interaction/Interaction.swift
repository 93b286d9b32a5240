import MCPCore
import Synchronization

/// The answers to questions that servers ask: from `--answer` and `--answers`, or from the person at the
/// terminal.
///
/// A question without an answer is recorded: however the server reacts to that, the command ends with the
/// exit code for required input.
final class Interaction: Sendable {
    private let answers: JSONObject
    /// The fields whose answer was given several times: a list of texts.
    private let repeated: Set<String>
    /// Whether a form without fields is accepted.
    private let isConsenting: Bool
    /// The command, if it takes no answers.
    private let answerless: String?
    private let prompter: Prompter?
    private let subject: String
    private let note: @Sendable (String) -> Void
    private let count = Atomic<Int>(0)
    /// Ends the connection to a server that never stops asking.
    private let ending = Callback<@Sendable () -> Void>()
    private let unanswered = Mutex<[Unanswered]>([])
    private let hasAnswered = Atomic<Bool>(false)
    /// The fields that an earlier question had.
    private let used = Mutex<Set<String>>([])

    private struct Unanswered {
        let question: InputRequired.Question
        /// The reasons why the given answers do not fit.
        var problems: [String] = []
    }

    /// - Parameters:
    ///   - answers: the values by the name of the field.
    ///   - repeated: those of them that were given several times, as a list of texts.
    ///   - isConsenting: whether a form without fields, which asks for consent only, is accepted.
    ///   - answerless: the command, if it takes no answers.
    ///   - prompter: nil when there is no one to ask.
    ///   - note: shows a line about a question that is not put.
    init(
        answers: JSONObject, repeated: Set<String> = [], isConsenting: Bool,
        answerless: String? = nil, prompter: Prompter?, subject: String,
        note: @escaping @Sendable (String) -> Void
    ) {
        self.note = note
        self.answers = answers
        self.repeated = repeated
        self.isConsenting = isConsenting
        self.answerless = answerless
        self.prompter = prompter
        self.subject = subject
    }

    /// The questions that are answered for one command.
    static let maxQuestions = 1_000

    /// Sets what ends the connection when the server asks more.
    func onFlood(_ end: @escaping @Sendable () -> Void) { ending.set(end) }

    /// Sets the client whose connection ends when the server asks more.
    func onFlood(ending client: MCPClient) {
        onFlood { [weak client] in
            let client = client
            Task { await client?.close() }
        }
    }

    /// Forgets the questions of one command, before another one.
    func forget() {
        unanswered.withLock { $0 = [] }
        hasAnswered.store(false, ordering: .relaxed)
        used.withLock { $0 = [] }
        count.store(0, ordering: .relaxed)
    }

    /// The failure with which the command must end if a question was left unanswered.
    var failure: Failure? {
        if count.load(ordering: .relaxed) > Self.maxQuestions {
            return .malformed(
                "\(inlineText(subject)) asks more than \(Self.maxQuestions) questions",
                details: ["the connection was closed"])
        }
        let open = unanswered.withLock { $0 }
        guard !open.isEmpty else { return nil }
        var failure = InputRequired.failure(open.map(\.question), subject: subject)
        if let answerless { failure.hint = "\(answerless) takes no answers; at a terminal it asks you" }
        return explained(failure)
    }

    /// Returns the failure with the reasons why the given answers do not fit.
    func explained(_ failure: Failure) -> Failure {
        var problems: [String] = []
        // A server may ask the same question again.
        for problem in unanswered.withLock({ $0.flatMap(\.problems) }) where !problems.contains(problem) {
            problems.append(problem)
        }
        guard !problems.isEmpty else { return failure }
        var failure = failure
        failure.details += problems.prefix(8)
        let state =
            hasAnswered.load(ordering: .relaxed) ? "earlier answers were sent" : "nothing was sent"
        failure.hint = "\(state); correct the answers and try again"
        return failure
    }

    /// Answers one question.
    ///
    /// - Throws: `MCPError` when no one can answer it, which ends the call at once in 2026-07-28.
    func answer(_ request: ElicitRequest) async throws(MCPError) -> ElicitResult {
        let number = count.add(1, ordering: .relaxed).newValue
        guard number <= Self.maxQuestions else {
            // Each question restarts `--timeout`, so that only the end of the connection ends the call.
            if number == Self.maxQuestions + 1 { ending.current?() }
            throw .internalError("More than \(Self.maxQuestions) questions are not answered")
        }
        if let url = request.url { return try await visit(url, request.message) }
        let form = request.schema ?? ElicitationSchema([])
        if let content = contentOfAnswers(form) {
            hasAnswered.store(true, ordering: .relaxed)
            used.withLock { $0.formUnion(form.properties.map(\.key)) }
            return .accept(content)
        }
        if let prompter {
            // One value has to be chosen: the person does.
            var given = answers
            for name in repeated where !FormField(name, form.properties[name] ?? [:]).isList {
                given[name] = nil
            }
            return await prompter.fillIn(form, message: request.message, given: given)
        }
        throw unanswered(.init(question: InputRequired.question(request), problems: problems(form)))
    }

    /// Returns the form filled in from the answers and the defaults; nil when they are not enough.
    ///
    /// Defaults alone are not an answer: someone has to agree to them.
    private func contentOfAnswers(_ form: ElicitationSchema) -> JSONObject? {
        var content = form.defaults()
        var isAnswered = isConsenting && form.properties.isEmpty
        for (name, schema) in form.properties {
            guard let given = answers[name] else { continue }
            guard let value = FormField(name, schema).value(given) else { return nil }
            content[name] = value
            isAnswered = true
        }
        guard isAnswered, form.violations(of: content).isEmpty else { return nil }
        return content
    }

    /// Returns what is wrong with the given answers, or missing from them.
    private func problems(_ form: ElicitationSchema) -> [String] {
        // One without fields wants consent, which no answer is about.
        guard !answers.isEmpty, !form.properties.isEmpty else { return [] }
        var found: [String] = []
        for (name, schema) in form.properties {
            guard let given = answers[name] else { continue }
            let field = FormField(name, schema)
            if repeated.contains(name), !field.isList, let count = given.arrayValue?.count {
                found.append("--answer \(inlineText(name)): is given \(count) times but accepts one value")
                continue
            }
            let value = inlineText(given.stringValue.map { quoted($0) } ?? given.serialized())
            let problem =
                field.value(given).map { field.problem(with: $0) }
                ?? "\(value) is not \(field.article)\(field.kind)"
            if let problem { found.append("--answer \(inlineText(name)): \(problem)") }
        }
        let names = form.properties.map(\.key)
        // Another question may have had such a field, or may come behind this one, which is not answered yet.
        let (earlier, isWrong) = (used.withLock { $0 }, !found.isEmpty)
        for name in answers.keys where !names.contains(name) && !earlier.contains(name) {
            let hint = Suggestion.hint(for: name, among: names)
            if isWrong, hint.isEmpty { continue }
            found.append("the form has no field \(quoted(name))\(inlineText(hint))")
        }
        let defaults = form.defaults()
        for name in form.required where answers[name] == nil && defaults[name] == nil {
            found.append("--answer \(inlineText(name)): missing")
        }
        return found
    }

    private func visit(_ url: String, _ message: String) async throws(MCPError) -> ElicitResult {
        guard PageAddress.isOne(url) else {
            note("declined: \(inlineText(subject)) asks to open \(quoted(url)), which is not a web page")
            return .decline
        }
        if let prompter { return await prompter.visit(url, message: message) }
        throw unanswered(
            .init(question: .init(text: "\(InputRequired.shown(message)) (open \(VisibleText.line(url)))")))
    }

    private func unanswered(_ question: Unanswered) -> MCPError {
        unanswered.withLock { $0.append(question) }
        return .internalError("There is no one to answer")
    }
}
