import MCPCore

/// The command that the command line requests.
enum Command: Sendable, Hashable {
    case run(RunOptions)
    /// If the file is `nil`, the default file is checked.
    case check(file: String?, [Override], isOnline: Bool)
    case token(TokenRequest, file: String?, [Override])
    case explain(ToolRequest, file: String?, [Override])
    case call(ToolRequest, file: String?, [Override])
    /// A request to a running server; the address is that of the configuration unless one is given.
    case control(ControlRequest, file: String?, [Override], ConfiguredAddress?)
    case verify(files: [String])
    case setup(SetupFile, configuration: String?, [Override])
    case schema
    case version
    case help
    case manual
}

/// One call of a tool from the command line.
struct ToolRequest: Sendable, Hashable {
    var tool: String
    /// The words for its arguments.
    var words: [String]
}

/// The options of `run`.
struct RunOptions: Sendable, Hashable {
    var file: String?
    var isDemo = false
    var isStdio = false
    var listen: [ConfiguredAddress] = []
    var overrides: [Override] = []
    var logLevel: LogLevel?
    /// Whether a crash may leave a core file, which contains the environment and all secrets.
    var leavesCores = false
    var clientTools = ClientToolFlags()
    /// What is served instead of a configuration.
    var exposed: Exposed?
}

/// What `mcp-server token` does.
enum TokenRequest: Sendable, Hashable {
    case new(name: String, TokenFlags)
    case list
    case revoke(name: String)
}

/// A mistake on the command line: what is wrong, and what to do about it.
struct CommandLineError: Error, Hashable {
    var text: String
    var hint: String

    init(_ text: String, hint: String = "mcp-server --help shows the commands and options") {
        self.text = text
        self.hint = hint
    }

    /// The two lines for standard error.
    var lines: [String] { ["mcp-server: \(text)", "hint: \(hint)"] }
}

/// The exit codes of the program.
enum ExitCode: Int32, Sendable {
    /// The server ended or drained.
    case success = 0
    /// The server failed while running.
    case failure = 1
    /// The usage or the configuration is wrong.
    case usage = 2
    /// The server cannot listen on an address.
    case cannotListen = 3
    /// `check` found errors.
    case checkFailed = 8
}
