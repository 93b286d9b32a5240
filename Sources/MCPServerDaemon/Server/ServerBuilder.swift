import MCPCore

/// Builds the server that a configuration describes.
struct ServerBuilder: Sendable {
    /// The server, with the counts of what it offers.
    struct Built {
        var server: MCPServer
        var contents: ServedContents
    }

    let configuration: Configuration
    let log: Log
    var runtime = CommandRuntime()
    /// Whether what is offered may change while the server runs: the first prompt may be added later.
    var isReloaded = false
    /// What sees every request; `nil` if nothing does.
    var observer: Observer?
    /// What other instances share; `nil` without a store.
    var store: RedisStore?

    /// The open files needed to run all commands at the same time; connections raise the limit further.
    private static let openFiles = CommandTool.maxRunning * 4 * 9

    /// The time for which clients may keep lists. Those that subscribe hear of a change at once.
    static let listLifetime = Duration.seconds(60)

    func build() throws(BuildError) -> Built {
        let server = makeServer()
        var contents = ServedContents()
        do {
            let resolver = PathResolver()
            let cache = ResultCache()
            let shared = CallSlots(
                CommandTool.maxRunning(openFiles: OpenFileLimit.raise(to: Self.openFiles)), areShared: true)
            for definition in configuration.tools {
                let tool = try CommandTool(
                    definition, resolver: resolver, shared: shared, runtime: runtime, cache: cache,
                    counters: observer?.commands)
                try server.register(
                    definition.tool, timeout: tool.serverTimeout, task: definition.task.support,
                    mending: mending(definition)
                ) { call, context in try await tool.call(call, context) }
                contents.tools += 1
            }
            if configuration.tools.contains(where: { $0.overflow == .resource }) {
                try runtime.outputs.register(on: server)
            }
            for definition in configuration.files {
                let files = try DirectoryResources(definition, log: log)
                contents.directories += 1
                server.register(files)
                server.addCompletion(.resource(definition.template.text), "path") { query, context in
                    try await files.completions(of: query.value, for: context)
                }
            }
            for definition in configuration.prompts {
                try server.register(definition.prompt) { arguments, _ in
                    GetPromptResult(
                        [.user(try definition.render(arguments))], description: definition.description)
                }
                contents.prompts += 1
            }
            contents.servers = configuration.upstreams.count
        } catch {
            throw BuildError(text: "\(error)")
        }
        return Built(server: server, contents: contents)
    }

    /// Returns what reads arguments of other types; nil if they are refused.
    private func mending(_ definition: ToolDefinition) -> (@Sendable (RawJSON) -> RawJSON?)? {
        guard configuration.coercion == .lenient else { return nil }
        let lenient = LenientArguments(definition.input.schema)
        return { [log] arguments in
            guard let (mended, names) = lenient.mended(arguments) else { return nil }
            let shown = names.joined(separator: " ")
            log.info("arguments coerced", ["tool": definition.name, "arguments": shown])
            return mended
        }
    }

    /// The reason why a checked configuration still does not produce a server.
    struct BuildError: Error, CustomStringConvertible {
        var text: String
        var description: String { text }
    }

    /// The number of tasks that are kept or worked on: as many as four clients have calls in flight.
    static let maxTasks = 256

    /// The limits for long-running calls of client tools and commands, which become tasks; `nil` if the
    /// server knows of none.
    ///
    /// Results may have any size that a task allows.
    private var tasks: TaskOptions? {
        guard configuration.hasTasks else { return nil }
        var tasks = TaskOptions()
        tasks.maxTasks = Self.maxTasks
        tasks.maxResultBytes = 4 << 20
        tasks.deadline = configuration.taskDeadline
        tasks.maxTTL = max(tasks.maxTTL, tasks.deadline + CommandTool.taskRetention)
        return tasks
    }

    /// Makes a server that offers nothing yet.
    ///
    /// - Parameter channel: the channel that it is for, if other programs provide tools.
    func makeServer(channel: String? = nil) -> MCPServer {
        let settings = configuration.server
        var options = ServerOptions()
        if let count = configuration.limits.perConnection { options.limits.maxRequestsInFlight = count }
        if let body = configuration.limits.body { options.limits.maxLineBytes = body }
        if let memory = configuration.limits.memory { options.limits.maxMemoryBytes = memory }
        options.tasks = tasks
        options.sharesLoops = true
        if configuration.upstreams.isEmpty { options.listTTL = Self.listLifetime }
        if isReloaded || !configuration.upstreams.isEmpty { options.declaredKinds = .all }
        options.log = { [log] line in log.warning("server warning", ["text": line]) }
        configuration.state?.use(in: &options, channel: channel)
        options.stateStore = store
        if let observer { options.middleware = [observer] }
        let strangers = StrangerLog(log)
        options.onRefusal = { strangers.report($0) }
        return MCPServer(
            settings.name, version: settings.version, title: settings.title,
            instructions: settings.instructions,
            options: options)
    }
}
