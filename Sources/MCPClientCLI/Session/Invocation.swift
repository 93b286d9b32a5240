/// A command line that was understood.
struct Invocation: Sendable {
    var command: Command
    var options: Options
    /// Nil only for commands that need no server.
    var target: Target?
    /// TARGET as it was typed, for messages; nil when the server is the program after `--`.
    var targetText: String?
    /// The servers of a command that talks to several, with the names that they have there.
    var servers: [NamedTarget] = []
    var operands: [String] = []
    /// The program after `--`, for commands that take one.
    var program: [String]?
    /// The words after the tool name.
    var arguments: [String] = []

    func operand(_ index: Int) -> String? { operands.indices.contains(index) ? operands[index] : nil }

    /// What to write before and after the operands to repeat this target, for hints and usage lines.
    func line(_ command: String, _ words: [String]) -> String {
        var line = ["mcp-client", command]
        if let targetText { line.append(ShellWord.quote(targetText)) }
        line += words
        if case .program(let program) = target { line += ["--"] + program.map(ShellWord.quote) }
        return line.joined(separator: " ")
    }
}
