import MCPCore

/// A prompter that asks the person at the terminal, on stderr.
///
/// It says which server is asking, lets the person refuse everything, and shows what was filled in before it
/// is sent (ELIC-16).
struct Prompter: Sendable {
    /// The name of the asker, in words.
    let asker: String
    let sink: any Sink
    let style: Style
    let person: Person

    /// Asks one question, with all its lines.
    private func put(_ question: @Sendable (Asking) async -> ElicitResult) async -> ElicitResult {
        await person.answer { await question(Asking(asker: asker, sink: sink, style: style, readLine: $0)) }
            ?? .cancel
    }

    func fillIn(_ form: ElicitationSchema, message: String, given: JSONObject) async -> ElicitResult {
        await put { await $0.fillIn(form, message: message, given: given) }
    }

    func visit(_ url: String, message: String) async -> ElicitResult {
        await put { await $0.visit(url, message: message) }
    }
}

/// One question that is being asked.
private struct Asking {
    let asker: String
    let sink: any Sink
    let style: Style
    /// Reads one line; nil at the end of the input.
    let readLine: Person.LineReader

    private func line(_ text: String) { sink.write(text + "\n") }

    /// Asks for one line; nil at the end of the input.
    private func ask(_ prompt: String) async -> String? {
        sink.write(prompt)
        return await readLine().map { $0.trimmingSpaces() }
    }

    // MARK: Forms

    func fillIn(_ form: ElicitationSchema, message: String, given: JSONObject) async -> ElicitResult {
        line("")
        line(style.bold("\(asker) asks: ") + TerminalText.block(message))
        var content = form.defaults()
        for (name, value) in given where form.properties[name] != nil {
            content[name] = FormField(name, form.properties[name] ?? [:]).value(value) ?? value
        }
        if form.properties.isEmpty { return await confirm() }
        while true {
            guard await fillIn(form, &content) else { return .cancel }
            line("")
            for (name, value) in content { line("  \(inlineText(name)): \(inlineText(shown(value)))") }
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
        for (name, schema) in form.properties {
            let field = FormField(name, schema)
            let isRequired = form.required.contains(name)
            describe(field, isRequired)
            while true {
                let current = content[name].map { " [\(inlineText(shown($0)))]" } ?? ""
                guard let text = await ask("  \(inlineText(name))\(current): ") else { return false }
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
        line("  \(style.bold(field.title))  \(style.dim(notes.joined(separator: " · ")))")
        for (index, choice) in field.choices.enumerated() {
            let title = choice.title == choice.value ? "" : "  \(inlineText(choice.title))"
            line("    \(index + 1)  \(inlineText(choice.value))\(title)")
        }
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
        line(style.bold("\(asker) asks: ") + TerminalText.block(message))
        line("  it wants you to open this page in your browser:")
        line("  \(inlineText(url))")
        if let host = Self.host(of: url) {
            line("  on the host \(style.bold(inlineText(host)))")
            if host.contains("xn--") || !host.utf8.allSatisfy({ $0 < 0x80 }) {
                line("  caution: the host name contains letters of another script")
            }
        }
        switch Self.answers.letter(of: await ask("did you open it? [y]es, [d]ecline, [c]ancel: ")) {
        case "y": return .accept
        case "d": return .decline
        default: return .cancel
        }
    }

    private static func host(of url: String) -> String? {
        guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.split(separator: "@").last.map(String.init)
        return host.flatMap { $0.split(separator: ":").first.map(String.init) }
    }
}
