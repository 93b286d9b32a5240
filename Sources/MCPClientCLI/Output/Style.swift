/// The colours of text, when they are enabled.
struct Style: Sendable {
    let isOn: Bool

    static func choose(
        _ choice: Options.ColorChoice, isTerminal: Bool, variable: (String) -> String?
    ) -> Style {
        switch choice {
        case .always: return Style(isOn: true)
        case .never: return Style(isOn: false)
        case .auto: break
        }
        // no-color.org: any value but the empty one; bixense.com/clicolors: any value but 0.
        if variable("NO_COLOR")?.isEmpty == false { return Style(isOn: false) }
        if let force = variable("CLICOLOR_FORCE"), !force.isEmpty, force != "0" { return Style(isOn: true) }
        return Style(isOn: isTerminal && variable("TERM") != "dumb")
    }

    private func wrap(_ text: String, _ code: String) -> String {
        isOn && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func red(_ text: String) -> String { wrap(text, "31") }
    func green(_ text: String) -> String { wrap(text, "32") }
    func cyan(_ text: String) -> String { wrap(text, "36") }
}
