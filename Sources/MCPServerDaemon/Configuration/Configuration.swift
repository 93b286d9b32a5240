import MCPCore

/// A checked configuration of the daemon.
struct Configuration: Sendable {
    /// What happens to arguments of other types than the input schema of a tool asks for.
    enum Coercion: String, CaseIterable, Sendable {
        /// They are refused.
        case strict
        /// They are converted where their meaning is clear.
        case lenient
    }

    var server = ServerSettings()
    /// The addresses to listen on; `nil` for the default ones.
    var listen: [ConfiguredAddress]?
    var web = WebSettings()
    var limits = LimitSettings()
    var tools: [ToolDefinition] = []
    var coercion = Coercion.strict
    var files: [FilesDefinition] = []
    var prompts: [PromptDefinition] = []
    /// The servers behind this one.
    var upstreams: [UpstreamDefinition] = []
    /// The programs of tools and servers, with their paths as far as they are found.
    var programs: [(title: String, path: String, sandbox: SandboxDefinition?)] {
        func path(_ program: String, _ environment: [String: String]) -> String {
            Paths.findProgram(program, in: environment["PATH"] ?? "") ?? program
        }
        let commands = tools.map {
            ("tool \($0.name)", path($0.command.program, $0.environment), $0.sandbox)
        }
        return commands
            + upstreams.compactMap { upstream in
                guard case .program(let program, _, let environment, _) = upstream.place else { return nil }
                return ("mcpServer \(upstream.name)", path(program, environment), upstream.sandbox)
            }
    }
    /// The programs of tools and servers with the words that are always the same, and the directory that
    /// they are started in, where that is known.
    var commands: [(title: String, program: String, words: [String], directory: String?)] {
        let commands = tools.map { tool in
            (
                "tool \(tool.name)", tool.command.program,
                tool.command.items.flatMap(\.elements).compactMap(\.literal), tool.workingDirectory.literal
            )
        }
        return commands
            + upstreams.compactMap { upstream in
                guard case .program(let program, let words, _, let directory) = upstream.place else {
                    return nil
                }
                return ("mcpServer \(upstream.name)", program, words, directory)
            }
    }
    /// The sandboxes that programs run in.
    var sandboxes: [SandboxDefinition] { tools.compactMap(\.sandbox) + upstreams.compactMap(\.sandbox) }
    /// The number of programs that run in a sandbox.
    var sandboxedCount: Int { tools.count { $0.sandbox != nil } + upstreams.count { $0.sandbox != nil } }
    /// The settings for the tools of other programs; `nil` if other programs cannot provide tools.
    var clientTools: ClientToolSettings?
    /// Whether the server answers requests about tasks: with a store, also those of other instances, whose
    /// configuration may have tools that this one does not have.
    var hasTasks: Bool {
        clientTools != nil || state?.store != nil || tools.contains { $0.task != .never }
    }
    /// The longest time of a task: of client tools, or of a command, whose time-out reports its reason and so
    /// must come first.
    var taskDeadline: Duration {
        tools.lazy.filter { $0.task != .never }.map { $0.timeout + .seconds(60) }
            .reduce(TaskOptions().deadline) { max($0, $1) }
    }
    /// The settings for the authorization of callers; `nil` if every caller is accepted.
    var auth: AuthSettings?
    /// What several instances have in common; `nil` if there is only one.
    var state: StateSettings?
    /// The address for operators; `nil` if there is none.
    var admin: AdminSettings?
    /// What the server writes down about its work.
    var observe = ObserveSettings()
    /// The paths that `include` names, as patterns.
    var includes: [String] = []
    /// The directory of the prompts.
    var promptsDirectory: String?
    /// The directory of the prompts, if it is to be watched.
    var watchedPrompts: String?
    /// The files with texts and with secrets (`${file:…}`) that it names.
    var texts: [String] = []
    var secrets: [String] = []
    /// The variables of the environment that it uses, and whether it needs them: those with a default it does
    /// not.
    var variables: [String: Bool] = [:]
}

/// The server's description of itself.
struct ServerSettings: Sendable, Hashable {
    var name = "mcp-server"
    var title: String?
    var version = DaemonVersion.current
    var instructions: String?

    /// The name without its namespace, for the banner.
    var shortName: String { name.split(separator: "/").last.map(String.init) ?? name }
}

/// The limits of the whole server; `nil` leaves the library's default.
struct LimitSettings: Sendable, Hashable {
    /// The number of connections at the same time.
    var connections: Int?
    /// The number of requests in flight on one connection.
    var perConnection: Int?
    /// The size of one message, in bytes.
    var body: Int?
    /// The size of all messages of HTTP connections together, in bytes.
    var memory: Int?
    /// The time that a stopping server waits for calls in flight.
    var drain: Duration?
}
