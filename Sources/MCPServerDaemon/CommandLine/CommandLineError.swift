/// A mistake on the command line: what is wrong, and what to do about it.
struct CommandLineError: Error, Hashable {
    var text: String
    var hint: String

    init(_ text: String, hint: String = "mcp-server --help shows the commands and options") {
        self.text = text
        self.hint = hint
    }

    /// Two lines for standard error.
    var lines: [String] { ["mcp-server: \(text)", "hint: \(hint)"] }
}
