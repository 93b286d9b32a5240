/// A checked configuration of the daemon.
struct Configuration: Sendable {
    var server = ServerSettings()
    /// Nil: the default addresses.
    var listen: [ConfiguredAddress]?
    var limits = LimitSettings()
    var tools: [ToolDefinition] = []
    var files: [FilesDefinition] = []
    var prompts: [PromptDefinition] = []
    /// Nil: other programs bring no tools.
    var clientTools: ClientToolSettings?
    /// The directory of the prompts, when it is to be watched.
    var watchedPrompts: String?
}

/// What the server calls itself.
struct ServerSettings: Sendable, Hashable {
    var name = "mcp-server"
    var title: String?
    var version = DaemonVersion.current
    var instructions: String?

    /// The name without its namespace, for the banner.
    var shortName: String { name.split(separator: "/").last.map(String.init) ?? name }
}

/// Bounds of the whole server; nil leaves the library's default.
struct LimitSettings: Sendable, Hashable {
    /// Connections at the same time.
    var connections: Int?
    /// Requests in flight on one connection.
    var perConnection: Int?
    /// Bytes of one message.
    var body: Int?
    /// Bytes of all messages of HTTP connections together.
    var memory: Int?
    /// How long a stopping server waits for calls in flight.
    var drain: Duration?
}
