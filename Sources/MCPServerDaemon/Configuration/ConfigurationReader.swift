import MCPCore

/// Turns the tree of a configuration file into a checked configuration.
struct ConfigurationReader {
    /// The counts and sizes that make sense; a number beyond them is a mistake.
    private static let connections = 1 ... 1_000_000
    private static let perConnection = 1 ... 10_000
    private static let body = (1 << 10) ... (1 << 30)
    private static let memory = (1 << 20) ... (1 << 40)

    let context: ConfigContext

    /// Returns what could be read; it may be used only if the diagnostics contain no error.
    func read(_ root: ConfigNode) -> Configuration {
        var configuration = Configuration()
        guard var reader = ObjectReader(root, path: "", context: context) else { return configuration }
        _ = reader.string("$schema")
        if let server = reader.object("server") { configuration.server = readServer(server) }
        configuration.auth = reader.object("auth").map { AuthReader(context: context).read($0) }
        let auth = configuration.auth
        if let listen = reader.node("listen") { configuration.listen = readListen(listen, auth) }
        configuration.web = WebSettings(&reader)
        checkNames(configuration, at: reader.place(of: "listen"))
        if let admin = reader.object("admin") {
            configuration.admin = AdminReader(context: context).read(admin, listen: configuration.listen)
        }
        if let observe = reader.object("observe") {
            configuration.observe = ObserveReader(context: context).read(observe)
        }
        configuration.state = reader.object("state").map { StateReader(context: context).read($0) }
        if let limits = reader.object("limits") { configuration.limits = readLimits(limits) }
        let sandboxes = SandboxCatalog(&reader, context: context)
        configuration.coercion =
            reader.word("coerce", as: Configuration.Coercion.self) ?? configuration.coercion
        let tools = reader.node("tools")
        configuration.tools =
            tools.map { ToolReader(context: context, sandboxes: sandboxes).readAll($0) } ?? []
        if let files = reader.node("files") {
            configuration.files = FilesReader(context: context).readAll(files)
        }
        if let prompts = reader.object("prompts") {
            (configuration.prompts, configuration.watchedPrompts) =
                PromptReader(context: context).readAll(prompts)
            configuration.promptsDirectory = prompts.members.first { $0.key == "dir" }?.value.string
                .map(context.absolute)
        }
        let servers = reader.node("mcpServers")
        configuration.upstreams =
            servers.map { UpstreamReader(context: context, sandboxes: sandboxes).readAll($0) } ?? []
        let programs = (servers?.members ?? []).filter { $0.value.hasMember("command") }
        sandboxes.warnOfUnconfined([("tool", tools?.members ?? []), ("mcpServer", programs)])
        if let servers = reader.foreign("servers") {
            context.diagnostics.error(
                "\"servers\" is called \"mcpServers\" here; \"inputs\" are ${env:NAME} or ${file:PATH}",
                at: servers)
        }
        if let tools = reader.object("clientTools") {
            configuration.clientTools = ClientToolsReader(context: context).read(tools)
            checkProviders(configuration, at: tools.place(of: "providersSocket"))
            checkChannelTokens(configuration, at: tools.place(of: "channelTokenFiles"))
            let problem = configuration.clientTools.flatMap { tools in
                configuration.listen?.compactMap(tools.problem).first
            }
            if let problem { context.diagnostics.error(problem, at: tools.place(of: "auth")) }
        }
        if let auth = root["auth"] {
            AccessCheck(configuration: configuration, node: auth, context: context).run()
        }
        reader.finish()
        return configuration
    }

    private func readServer(_ reader: ObjectReader) -> ServerSettings {
        var reader = reader
        var settings = ServerSettings()
        if let name = reader.string("name") {
            if name.isEmpty {
                context.diagnostics.error("server.name must not be empty", at: reader.place(of: "name"))
            }
            settings.name = name
        }
        settings.title = reader.string("title")
        settings.version = reader.string("version") ?? settings.version
        settings.instructions = reader.text("instructions")
        reader.finish()
        return settings
    }

    private func readListen(_ node: ConfigNode, _ auth: AuthSettings?) -> [ConfiguredAddress] {
        guard let elements = node.elements else {
            context.diagnostics.error(
                "listen must be an array of addresses, not \(node.kindName)", at: node.position)
            return []
        }
        if elements.isEmpty {
            context.diagnostics.error(
                "listen has no address; leave it out for the default ones", at: node.position)
        }
        let passed = context.passedSockets
        var taken: [ConfiguredAddress] = []
        return elements.compactMap { element in
            guard let text = element.string else {
                context.diagnostics.error(
                    "an address must be a string, not \(element.kindName)", at: element.position)
                return nil
            }
            let address = Self.address(text, at: element.position, context.diagnostics)
            if let address, let text = address.problem(with: auth) {
                context.diagnostics.error(text, at: element.position)
            } else if let address, !address.isLoopback {
                context.diagnostics.warning(
                    "\(text) can be reached from the network, where others can read the tokens of plain "
                        + "http: listen on 127.0.0.1 behind a proxy with TLS, or use it in a network that "
                        + "you trust",
                    at: element.position)
            }
            if case .tcp(_, 0) = address {
                context.diagnostics.error(
                    "\(text) has no usable port: clients could not know which one it is; "
                        + "\"--listen \(text)\" uses a free one and prints it", at: element.position)
            }
            guard let address else { return nil }
            if taken.contains(where: address.isTaken) {
                context.diagnostics.error("\(text) appears twice in listen", at: element.position)
            } else if let obstacle = passed.obstacle(to: address) {
                context.diagnostics.error("cannot listen on \(text): \(obstacle)", at: element.position)
            } else {
                StartCheck(context: context).socket(
                    address, "cannot listen on \(text)", at: element.position)
            }
            if auth == nil, address.isOpenToEveryUser {
                context.diagnostics.warning(
                    "\(text) lets every user of this machine use the server: give it mode=0660 and a group, "
                        + "or require tokens with \"auth\"", at: element.position)
            }
            taken.append(address)
            return address
        }
    }

    /// Every address of the machine is known by a name only.
    private func checkNames(_ configuration: Configuration, at position: SourcePosition) {
        guard let address = configuration.listen?.first(where: \.isWildcard), let auth = configuration.auth,
            configuration.web.hosts.isEmpty, auth.host == nil
        else { return }
        context.diagnostics.warning(
            "requests from other machines are refused at \(address.text): name the server in \"hosts\" as "
                + "they do", at: position)
    }

    /// Both the token of a channel and that of a caller are in `Authorization`, which a request has once.
    private func checkChannelTokens(_ configuration: Configuration, at position: SourcePosition) {
        guard configuration.auth != nil, configuration.clientTools?.channelTokenFiles.isEmpty == false else {
            return
        }
        context.diagnostics.error(
            "clientTools.channelTokenFiles cannot be combined with auth, because both use the Authorization "
                + "header: remove it, and make a token for the channel's agents with mcp-server token new",
            at: position)
    }

    /// Checks the socket of providers, which is an additional one and not an address of `listen`.
    private func checkProviders(_ configuration: Configuration, at position: SourcePosition) {
        guard let path = configuration.clientTools?.providersSocket,
            let socket = try? ConfiguredAddress(unixPath: path)
        else { return }
        if configuration.listen?.contains(where: socket.isTaken) == true {
            context.diagnostics.error(
                "clientTools.providersSocket is also in listen; providers need a socket of their own",
                at: position)
        } else if let obstacle = context.passedSockets.obstacle(to: socket) {
            context.diagnostics.error("clientTools.providersSocket: \(obstacle)", at: position)
        } else {
            StartCheck(context: context).socket(socket, "clientTools.providersSocket", at: position)
        }
    }

    /// Returns an address.
    static func address(_ text: String, at position: SourcePosition, _ diagnostics: Diagnostics)
        -> ConfiguredAddress?
    {
        do throws(ConfiguredAddress.Flaw) {
            return try ConfiguredAddress(text)
        } catch {
            diagnostics.error("\(text) \(error.text)", at: position)
            return nil
        }
    }

    private func readLimits(_ reader: ObjectReader) -> LimitSettings {
        var reader = reader
        let limits = LimitSettings(
            connections: reader.integer("connections", in: Self.connections),
            perConnection: reader.integer("perConnection", in: Self.perConnection),
            body: reader.size("body", in: Self.body), memory: reader.size("memory", in: Self.memory),
            drain: reader.duration("drain"))
        if let memory = limits.memory, memory < limits.body ?? HTTPLimits().maxBodyBytes,
            let position = reader.node("memory")?.position
        {
            context.diagnostics.error(
                "limits.memory must be at least limits.body: a single body may need that much", at: position)
        }
        reader.finish()
        return limits
    }
}
