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
