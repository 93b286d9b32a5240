import MCPCore

/// What the command line asks for.
enum Command: Sendable, Hashable {
    case run(RunOptions)
    /// Nil: the default file.
    case check(file: String?, [Override])
    case schema
    case version
    case help
}

/// The options of `run`.
struct RunOptions: Sendable, Hashable {
    var file: String?
    var isDemo = false
    var isStdio = false
    var listen: [ConfiguredAddress] = []
    var overrides: [Override] = []
    var logLevel: LogLevel?
    /// A crash may leave a core file, which holds the environment and all secrets.
    var leavesCores = false
    var clientTools = ClientToolFlags()
}

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

/// How the program ends.
enum ExitCode: Int32, Sendable {
    /// Ended or drained.
    case success = 0
    /// Failed while running.
    case failure = 1
    /// Wrong usage or configuration.
    case usage = 2
    /// An address cannot be listened on.
    case cannotListen = 3
    /// `check` found errors.
    case checkFailed = 8
}
