import MCPCore

extension RetryAfter {
    /// The time, for a person: `in 7 s`, `now`.
    var text: String {
        if pause == .zero { return "now" }
        return date.map { "after \(inlineText($0))" } ?? "in \(pause.components.seconds) s"
    }
}
