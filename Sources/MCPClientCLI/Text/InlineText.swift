import MCPCore

/// Returns text from a person or a server for use inside one line of ours, in quotation marks.
func quoted(_ text: some StringProtocol) -> String { "\"\(inlineText(String(text)))\"" }

/// Returns text from a person or a server for use inside one line of ours.
///
/// The result has no line ends, no control characters, and at most 200 characters.
func inlineText(_ text: String) -> String { TerminalText.inline(text, limit: 200) }
