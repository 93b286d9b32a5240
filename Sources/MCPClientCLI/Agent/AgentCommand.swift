import MCPCore
import MCPHarness

/// `agent`: lets a model use the tools of servers, with the approval of the person at the terminal.
struct AgentCommand {
    let context: CommandContext
    /// The terminal at which prompts are typed, where they are edited.
    private let prompt: PromptSink?
    private var environment: CommandEnvironment { context.environment }
    private var console: Console { context.console }
    private var invocation: Invocation { context.invocation }
    private var options: AgentOptions { invocation.options.agent }

    init(_ context: CommandContext) {
        let environment = context.environment
        let isTyped = context.invocation.operands.first == "-" && !environment.input.isStdinPiped
        let prompt = isTyped && environment.editsLines ? PromptSink.on(environment.stderr) : nil
        self.context = prompt.map { context.writing(to: $0) } ?? context
        self.prompt = prompt
    }

    func run() async throws(Failure) -> ExitCode {
        let model = try model()
        let timings = Timings()
        let connector = Connector(environment: environment, console: console, timings: timings)
        var sessions: [Session] = []
        do throws(Failure) {
            for server in invocation.servers {
                let own = invocation.forServer(server)
                let session = try await connector.connect(server.target, own, name: server.name)
                sessions.append(session)
                if invocation.options.checks.isLocked {
                    let locked = try LockedServer(own, in: environment.currentDirectory)
                    _ = try await locked.tools(session)
                }
            }
            if sessions.isEmpty {
                console.note("no TARGET: the model has no tools")
            }
            let code = try await talk(model, sessions)
            await end(sessions, model)
            for session in sessions { if let failure = session.interaction.failure { throw failure } }
            return code
        } catch {
            await end(sessions, model)
            throw error
        }
    }

    private func end(_ sessions: [Session], _ model: any LanguageModel) async {
        for session in sessions { await session.client.close() }
        await (model as? CommandModel)?.close()
    }

    func model() throws(Failure) -> any LanguageModel {
        switch options.model {
        case nil:
            throw .usage(
                "agent needs a model",
                hint: "--model openai:http://localhost:11434/v1,NAME, --model script:FILE or --model-command")
        case .script(let path):
            try refuseSettings()
            return try ModelScript.read(path)
        case .program(let words):
            try refuseSettings()
            return CommandModel(words.first ?? "", Array(words.dropFirst()))
        case .chatCompletions(let url, let name):
            var key: String?
            if let variable = options.keyVariable {
                guard let value = environment.secret(variable) else {
                    throw .usage("the environment variable \(inlineText(variable)) is not set")
                }
                key = value.trimmingWhitespace()
            }
            var client = ClientOptions(name: ClientIdentity.name, version: ClientIdentity.version)
            if let limit = invocation.options.connectTimeout { client.connectTimeout = limit }
            var model = ChatCompletionsModel(url, model: name, key: key, options: client)
            model.parameters = options.parameters
            return model
        }
    }

    /// Refuses what only a server of models receives.
    private func refuseSettings() throws(Failure) {
        if options.parameters.isEmpty, options.keyVariable == nil { return }
        throw .usage(
            "\(options.parameters.isEmpty ? "--model-key-env" : "--param") has no effect on this model",
            hint: "it is for --model openai:URL,NAME; a program gets such settings in its own arguments")
    }

    private var policies: PolicyTable { Self.policies(options) }

    static func policies(_ options: AgentOptions) -> PolicyTable {
        var table = PolicyTable()
        table.insists = true
        for entry in options.toolPolicies {
            let policy = policy(entry.policy)
            if entry.isQualified { table.set(policy, for: entry.word) }
            if entry.isName { table.set(policy, forNames: entry.word) }
        }
        table.override = options.policy.map(policy)
        for name in options.trusted { table.trust(ToolSourceID(name)) }
        return table
    }

    private static func policy(_ word: AgentOptions.Policy) -> ToolPolicy {
        switch word {
        case .ask: .ask([])
        case .auto: .automatic
        case .deny: .deny([])
        }
    }

    /// Returns the text of `--system`.
    private func systemPrompt() throws(Failure) -> String? {
        guard let text = options.system, text.hasPrefix("@") else { return options.system }
        let bytes = try environment.file(
            String(text.dropFirst()), advice: "@ reads a file; without it, --system is the text itself")
        return String(decoding: bytes, as: UTF8.self)
    }

    private func talk(_ model: any LanguageModel, _ sessions: [Session]) async throws(Failure) -> ExitCode {
        let file = ConversationFile(environment, path: options.conversation)
        let isResumed = options.continues || options.conversation != nil
        let transcript = isResumed ? try file.read() : nil
        if options.continues, transcript == nil {
            throw .usage("no earlier conversation was found", hint: "omit --continue to start one")
        }
        let person = invocation.options.noInput ? nil : environment.person
        let decisions = person == nil ? nil : file.permanentDecisions()
        let prompt = ApprovalPrompt(
            sink: console.stderr, style: console.noteStyle, person: person, remembers: decisions != nil)
        // The clients know when a server is silent for too long, and when it reports progress.
        var limits = HarnessLimits()
        limits.toolTimeout = nil
        var behavior = HarnessOptions()
        if let decisions { behavior.decisions = decisions }
        let sources = try sources(sessions)
        let harness: ToolHarness
        let given = try systemPrompt()
        do {
            harness = try ToolHarness(
                name: "an agent at a command line",
                summary: "You help the user with the tools you are given.", instructions: given, model: model,
                sources: sources, policies: policies, limits: limits, options: behavior,
                transcript: transcript ?? []
            ) { await prompt.decide($0) }
        } catch {
            throw Failure(describing: "\(error)")
        }
        await noteUnknownTools(sources)
        try await AgentConversation(harness: harness, file: file, context: context, prompt: self.prompt).run()
        for source in sources { if let failure = (source as? LockedSource)?.failure { throw failure } }
        return prompt.wasMissed ? .inputRequired : .ok
    }

    private func sources(_ sessions: [Session]) throws(Failure) -> [any ToolSource] {
        var sources: [any ToolSource] = []
        for (server, session) in zip(invocation.servers, sessions) {
            let own = invocation.forServer(server)
            let source = MCPServerSource(
                session.client, id: ToolSourceID(server.name), timeout: invocation.options.timeout,
                identity: ServerIdentity(of: server.target, own, in: environment.currentDirectory).text)
            guard invocation.options.checks.isLocked else {
                sources.append(source)
                continue
            }
            var locked = try LockedServer(own, in: environment.currentDirectory)
            locked.isInUse = true
            sources.append(LockedSource(source, session, locked))
        }
        return sources
    }

    /// Notes policies for tools that do not exist: a misspelt one would protect nothing.
    private func noteUnknownTools(_ sources: [any ToolSource]) async {
        if options.toolPolicies.isEmpty { return }
        var names: [(tool: String, server: String)] = []
        for source in sources {
            names += ((try? await source.tools()) ?? []).map { ($0.name, source.id.name) }
        }
        for entry in options.toolPolicies {
            if names.contains(where: { entry.matches($0.tool, of: $0.server) }) { continue }
            let known = names.map { entry.isQualified ? "\($0.server)/\($0.tool)" : $0.tool }
            let best = Suggestion.best(for: entry.word, among: known)
            let flag = "\(Flag.agent(entry.flag).name) \(inlineText(entry.word))"
            console.note(
                "warning: \(flag) matches no tool\(best.map { "; did you mean \(inlineText($0))?" } ?? "")")
        }
    }
}
