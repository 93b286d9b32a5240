import MCPCore

extension RetryAfter {
    /// The time, for a person: `in 7 s`, `now`.
    var text: String {
        if pause == .zero { return "now" }
        if date == nil, pause > .seconds(86_400 * 365) { return "in more than a year" }
        return date.map { "after \(inlineText($0))" } ?? "in \(pause.components.seconds) s"
    }
}
