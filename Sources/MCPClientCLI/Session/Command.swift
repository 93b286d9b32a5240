/// A command: its syntax, its help text and its action. All commands are listed in `Command.all`.
///
/// The parser, the help texts, the manual page, the completion and the reference in docs/cli.md are made from
/// these rows and from those of the flags.
struct Command: Sendable {
    typealias Run = @Sendable (CommandContext) async throws(Failure) -> ExitCode

    /// The number of servers that a command connects to; several servers are operands that follow the others.
    enum Targets: Sendable { case none, one, several }

    /// The headings under which help texts list commands.
    enum Group: String, Sendable, CaseIterable {
        case use = "Use"
        case diagnose = "Diagnose"
        case check = "Guard"
        case setUp = "Set up"
    }

    let name: String
    let summary: String
    var group = Group.use
    var operands: [Operand] = []
    /// Whether words after the last operand belong to the tool or prompt, not to this program.
    var takesArguments = false
    var targets = Targets.one
    /// Whether the servers are HTTP servers; sockets and programs are refused.
    var isForHTTP = false
    /// Whether the program after -- is used by the command itself and is not a server to connect to.
    var takesProgram = false
    /// The flags that the command accepts in addition to those of every command.
    var flags: [Flag]
    /// What flags mean for this command, where that differs from what they mean for others.
    var meanings: [Flag: String] = [:]
    /// Whether the command prints responses as they arrive, including one in which the server asks a
    /// question.
    var printsWire = false
    /// Whether lists that were kept by earlier commands are used. Commands that show something ask the
    /// server.
    var usesCache = false
    /// Whether the command reports by itself that changes cannot be received.
    var reportsOutages = false
    /// Whether the output printed before the command is stopped is a result.
    var endsByStopping = false
    /// Whether `-o FILE` is written by the command itself, while it runs.
    var writesOwnFile = false
    /// Whether the command uses stdin or a connection of its own, so that a shell cannot run it.
    var needsOwnConnection = false
    /// Whether the command is typed into a shell, which has the server and the program's name already.
    var isInShell = false
    /// Additional lines of `COMMAND --help`.
    var notes: [String] = []
    var examples: [String] = []
    let run: Run

    /// The command with TARGET and its operands, as shown in usage lines.
    var usage: String { (programWords + [name, "[FLAGS]"] + placeholders).joined(separator: " ") }

    /// The command with its operands, as shown in the list of commands.
    var synopsis: String { ([name] + placeholders).joined(separator: " ") }

    /// The words before the name of a command.
    var programWords: [String] { isInShell ? [] : ["mcp-client"] }

    /// The command line that explains the command.
    var helpLine: String { isInShell ? "help \(name)" : "mcp-client \(name) --help" }

    private var placeholders: [String] {
        (targets == .one && !isInShell ? ["TARGET"] : []) + ownPlaceholders
    }

    /// The placeholders after TARGET.
    var ownPlaceholders: [String] {
        operands.map(\.placeholder) + (takesArguments ? ["[ARGS]"] : [])
    }

    /// Returns what a flag means for this command.
    func meaning(of flag: Flag) -> String { meanings[flag] ?? flag.row.summary }

    func knows(_ flag: Flag) -> Bool { Flag.common.contains(flag) || flags.contains(flag) }

    /// Returns the command as a shell offers it: without TARGET, and without the flags of the connection.
    var insideShell: Command {
        var command = self
        command.isInShell = true
        command.flags = flags.filter { flag in
            switch flag {
            case .transport(.timeout): true
            // Those of the connection, which is open.
            case .transport, .auth, .interaction(.answer), .interaction(.answers): false
            case .interaction(.logLevel), .output(.verbose), .output(.wire): false
            default: true
            }
        }
        return command
    }

    /// Returns the failure for a command line that lacks these words.
    func missing(_ words: [String]) -> Failure {
        let choices = operands.filter { words.contains($0.name) }.compactMap { operand -> String? in
            guard case .choices(let values) = operand.kind else { return nil }
            return "\(operand.name) is one of: \(values.joined(separator: ", "))"
        }
        return .usage(
            "missing \(words.joined(separator: " and "))", details: choices, hint: "usage: \(usage)")
    }
}

/// One word after the TARGET of a command.
struct Operand: Sendable {
    enum Count: Sendable { case one, optional, oneOrMore, zeroOrMore }

    let name: String
    let count: Count
    /// What the word stands for.
    let kind: WordKind
    /// How the word names a file that the command reads; nil if it names none.
    let reads: FileReading?

    /// - Parameters:
    ///   - kind: what the word stands for; by default what its name describes.
    ///   - reads: how the word names a file that the command reads; by default, a file is read.
    init(_ name: String, _ count: Count = .one, kind: WordKind? = nil, reads: FileReading? = nil) {
        self.name = name
        self.count = count
        self.kind = kind ?? WordKind(placeholder: name)
        self.reads = reads ?? (self.kind == .file ? .whole : nil)
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
