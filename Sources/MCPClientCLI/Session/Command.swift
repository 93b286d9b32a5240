/// A command: how it is written, what its help says, and what it does. All of them stand in `Command.all`.
struct Command: Sendable {
    typealias Run = @Sendable (CommandContext) async throws(Failure) -> ExitCode

    /// How many servers it talks to; of several, each is an operand behind the others.
    enum Targets: Sendable { case none, one, several }

    let name: String
    let summary: String
    var operands: [Operand] = []
    /// Words after the last operand belong to the tool or prompt, not to us.
    var takesArguments = false
    var targets = Targets.one
    /// The program after -- is what the command works with, not a server to connect to.
    var takesProgram = false
    /// The flags that it knows besides those of every command.
    let flags: [Flag]
    /// It prints answers as they come, and so the question of a server that asks back.
    var printsWire = false
    /// What it has printed before it is stopped is a result.
    var endsByStopping = false
    /// Further lines of `COMMAND --help`.
    var notes: [String] = []
    var examples: [String] = []
    let run: Run

    /// The operands with TARGET before them, as usage lines show them.
    var usage: String { (["mcp-client", name, "[FLAGS]"] + placeholders).joined(separator: " ") }

    /// The command with its operands, as the list of commands shows it.
    var synopsis: String { ([name] + placeholders).joined(separator: " ") }

    private var placeholders: [String] { (targets == .one ? ["TARGET"] : []) + ownPlaceholders }

    /// What stands after TARGET.
    var ownPlaceholders: [String] {
        operands.map(\.placeholder) + (takesArguments ? ["[ARGS]"] : [])
    }

    func knows(_ flag: Flag) -> Bool { Flag.common.contains(flag) || flags.contains(flag) }

    /// The failure of a command line that lacks these words.
    func missing(_ words: [String]) -> Failure {
        .usage("\(name) needs \(words.joined(separator: " and "))", hint: "usage: \(usage)")
    }
}

/// One word that stands after the TARGET of a command.
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
