import MCPCore

/// A log message of a server as a line on stderr.
enum LogLine {
    /// `[warning] db: slow query`
    static func text(_ message: LogMessage, style: Style) -> String {
        let words = message.data.stringValue ?? message.data.serialized()
        let logger = message.logger.map { inlineText($0) + ": " } ?? ""
        return style.dim("[\(message.level.rawValue)]") + " " + logger
            + TerminalText.inline(words, limit: 2_000)
    }
}
