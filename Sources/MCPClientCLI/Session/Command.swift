/// A command: its syntax, its help text and its action. All commands are listed in `Command.all`.
struct Command: Sendable {
    typealias Run = @Sendable (CommandContext) async throws(Failure) -> ExitCode

    /// The number of servers that a command connects to; several servers are operands that follow the others.
    enum Targets: Sendable { case none, one, several }

    let name: String
    let summary: String
    var operands: [Operand] = []
    /// Whether words after the last operand belong to the tool or prompt, not to this program.
    var takesArguments = false
    var targets = Targets.one
    /// Whether the servers are HTTP servers; sockets and programs are refused.
    var isForHTTP = false
    /// Whether the program after -- is used by the command itself and is not a server to connect to.
    var takesProgram = false
    /// The flags that the command accepts in addition to those of every command.
    let flags: [Flag]
    /// Whether the command prints responses as they arrive, including one in which the server asks a
    /// question.
    var printsWire = false
    /// Whether the output printed before the command is stopped is a result.
    var endsByStopping = false
    /// Additional lines of `COMMAND --help`.
    var notes: [String] = []
    var examples: [String] = []
    let run: Run

    /// The command with TARGET and its operands, as shown in usage lines.
    var usage: String { (["mcp-client", name, "[FLAGS]"] + placeholders).joined(separator: " ") }

    /// The command with its operands, as shown in the list of commands.
    var synopsis: String { ([name] + placeholders).joined(separator: " ") }

    private var placeholders: [String] { (targets == .one ? ["TARGET"] : []) + ownPlaceholders }

    /// The placeholders after TARGET.
    var ownPlaceholders: [String] {
        operands.map(\.placeholder) + (takesArguments ? ["[ARGS]"] : [])
    }

    func knows(_ flag: Flag) -> Bool { Flag.common.contains(flag) || flags.contains(flag) }

    /// Returns the failure for a command line that lacks these words.
    func missing(_ words: [String]) -> Failure {
        .usage("\(name) needs \(words.joined(separator: " and "))", hint: "usage: \(usage)")
    }
}

/// One word after the TARGET of a command.
struct Operand: Sendable {
    enum Count: Sendable { case one, optional, oneOrMore, zeroOrMore }

    let name: String
    let count: Count

    init(_ name: String, _ count: Count = .one) {
        self.name = name
        self.count = count
    }

    var placeholder: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .oneOrMore: "\(name)…"
        case .zeroOrMore: "[\(name)…]"
        }
    }
}
