import MCPCore
import Synchronization

/// A prompter that asks the person at the terminal, on stderr.
///
/// It says which server is asking, lets the person refuse everything, and shows what was filled in before it
/// is sent (ELIC-16).
struct Prompter: Sendable {
    /// The size up to which a value is shown before it is sent.
    static let shownCharacters = 4_000

    /// The name of the asker, in words.
    let asker: String
    let sink: any Sink
    let style: Style
    let person: Person
    /// The columns of the terminal; nil if the sink is none.
    var width: Int?

    /// Asks one question, with all its lines.
    private func put(_ question: @Sendable (Asking) async -> ElicitResult) async -> ElicitResult {
        await person.answer {
            await question(Asking(asker: asker, sink: sink, style: style, width: width, readLine: $0))
        } ?? .cancel
    }

    func fillIn(_ form: ElicitationSchema, message: String, given: JSONObject) async -> ElicitResult {
        await put { await $0.fillIn(form, message: message, given: given) }
    }

    func visit(_ url: String, message: String) async -> ElicitResult {
        await put { await $0.visit(url, message: message) }
    }
}

/// One question that is being asked.
private final class Asking: Sendable {
    let asker: String
    let sink: any Sink
    let style: Style
    let width: Int?
    /// Reads one line; nil at the end of the input.
    let readLine: Person.LineReader

    /// The lines of the question so far, which are shown again with it.
    private let about = Mutex("")

    init(
        asker: String, sink: any Sink, style: Style, width: Int?, readLine: @escaping Person.LineReader
    ) {
        self.asker = asker
        self.sink = sink
        self.style = style
        self.width = width
        self.readLine = readLine
    }

    private func line(_ text: String) {
        about.withLock { $0 += text + "\n" }
        sink.write(text + "\n")
    }

    private func caution(_ text: String) {
        for part in TextWrap.lines("  caution: " + text, width: width ?? .max, hanging: 2) { line(part) }
    }

    /// Writes a text of the server after words of ours.
    private func line(_ head: String, _ text: String, look: (String) -> String = { $0 }) {
        let lines = MarkedText.lines(text, after: TextWrap.columns(of: head), width: width)
        let start = head.allSatisfy { $0 == " " } ? head : style.bold(head)
        for (index, text) in lines.enumerated() { line((index == 0 ? start : "") + look(text)) }
    }

    /// Asks for one line; nil at the end of the input.
    private func ask(_ prompt: String) async -> String? {
        await sink.ask(prompt, about: about.withLock { $0 }, readLine).map { $0.trimmingSpaces() }
    }

    // MARK: Forms

    func fillIn(_ form: ElicitationSchema, message: String, given: JSONObject) async -> ElicitResult {
        line("")
        line("\(asker) asks: ", message)
        var content = form.defaults()
        for (name, value) in given where form.properties[name] != nil {
            content[name] = FormField(name, form.properties[name] ?? [:]).value(value) ?? value
        }
        if form.properties.isEmpty { return await confirm() }
        while true {
            guard await fillIn(form, &content) else { return .cancel }
            line("")
            for (name, value) in content { line("  ", "\(inlineText(name)): \(whole(value))") }
            switch await ask("send this? [y]es, [e]dit, [d]ecline, [c]ancel: ", Self.answers) {
            case "y": return .accept(content)
            case "e": continue
            case "d": return .decline
            default: return .cancel
            }
        }
    }

    private static let answers = PromptAnswer(["y": "yes", "e": "edit", "d": "decline", "c": "cancel"])

    /// Asks for one of the answers, again after an empty line: Enter may have been held since the last field.
    /// Nil at the end of the input, and for anything else.
    private func ask(_ prompt: String, _ answers: PromptAnswer) async -> Character? {
        while true {
            guard let line = await ask(prompt) else { return nil }
            if !line.isEmpty { return answers.letter(of: line) }
        }
    }

    /// Asks for consent, which neither an empty line nor the end of the input gives.
    private func confirm() async -> ElicitResult {
        line("")
        guard let answer = await ask("accept? [y]es, [N]o: ") else { return .cancel }
        return PromptAnswer.isYes(answer) ? .accept([:]) : .decline
    }

    /// Fills in the form; returns false at the end of the input.
    private func fillIn(_ form: ElicitationSchema, _ content: inout JSONObject) async -> Bool {
        let required = Set(form.required)
        for (name, schema) in form.properties {
            let field = FormField(name, schema)
            let isRequired = required.contains(name)
            describe(field, isRequired)
            while true {
                let current = content[name].map { " [\(short(shown($0)))]" } ?? ""
                guard let text = await ask("  \(short(name))\(current): ") else { return false }
                if text.isEmpty {
                    if content[name] != nil || !isRequired { break }
                    line("  an answer is required")
                } else if let value = field.value(text) {
                    guard let problem = field.problem(with: value) else {
                        content[name] = value
                        break
                    }
                    line("  \(problem)")
                } else {
                    line("  the answer must be: \(field.kind)")
                }
            }
        }
        return true
    }

    private func describe(_ field: FormField, _ isRequired: Bool) {
        let notes = [field.kind, isRequired ? nil : "optional", field.explanation].compactMap { $0 }
        line("")
        let note = notes.joined(separator: " · ")
        if TextWrap.columns(of: field.title) + TextWrap.columns(of: note) + 4 <= width ?? .max {
            line("  \(style.bold(field.title))  \(style.dim(note))")
        } else {
            line("  ", field.title, look: style.bold)
            line("  ", note, look: style.dim)
        }
        if field.asksForSecret {
            caution("a server must not ask for a secret this way; what you type is shown and sent")
        }
        for (index, choice) in field.choices.enumerated() {
            let title = choice.title == choice.value ? "" : "  \(inlineText(choice.title))"
            line("    ", "\(index + 1)  \(inlineText(choice.value))\(title)")
        }
    }

    /// A text of the server in a line in which the person types.
    private func short(_ text: String) -> String { TerminalText.inline(text, limit: 60) }

    /// A value that is to be sent, in full, or with the size of what is not shown.
    private func whole(_ value: JSONValue) -> String {
        let text = shown(value)
        let hidden = text.unicodeScalars.count - Prompter.shownCharacters
        guard hidden > 0 else { return VisibleText.line(text) }
        let start = String(text.unicodeScalars.prefix(Prompter.shownCharacters))
        return VisibleText.line(start) + "… and \(hidden) characters that are not shown here"
    }

    private func shown(_ value: JSONValue) -> String {
        if let text = value.stringValue { return text }
        if let items = value.arrayValue {
            return items.map { $0.stringValue ?? $0.serialized() }.joined(separator: ", ")
        }
        return value.serialized()
    }

    // MARK: Pages

    /// Asks the person to visit a page.
    ///
    /// Nothing is fetched and nothing is opened here: the person opens the page where neither this program
    /// nor a model can see what is typed (ELIC-17 to ELIC-19).
    func visit(_ url: String, message: String) async -> ElicitResult {
        line("")
        line("\(asker) asks: ", message)
        line("  it wants you to open this page in your browser:")
        // Whole, and not broken: it is copied.
        line("  \(VisibleText.line(url))")
        line("  on the host \(style.bold(inlineText(PageAddress.host(of: url))))")
        for text in PageAddress.cautions(url) { caution(text) }
        switch Self.answers.letter(of: await ask("did you open it? [y]es, [d]ecline, [c]ancel: ")) {
        case "y": return .accept
        case "d": return .decline
        default: return .cancel
        }
    }
}
