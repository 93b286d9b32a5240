import MCPCore
import MCPHarness

/// `agent`: lets a model use the tools of servers, with the approval of the person at the terminal.
struct AgentCommand {
    let context: CommandContext
    private var environment: CommandEnvironment { context.environment }
    private var console: Console { context.console }
    private var invocation: Invocation { context.invocation }
    private var options: AgentOptions { invocation.options.agent }

    init(_ context: CommandContext) { self.context = context }

    func run() async throws(Failure) -> ExitCode {
        let model = try model()
        let timings = Timings()
        let connector = Connector(environment: environment, console: console, timings: timings)
        var sessions: [Session] = []
        do throws(Failure) {
            for server in invocation.servers {
                let own = invocation.forServer(named: server.name)
                sessions.append(try await connector.connect(server.target, own, name: server.name))
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
        case .script(let path): return try ModelScript.read(path)
        case .program(let words): return CommandModel(words.first ?? "", Array(words.dropFirst()))
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
            return ChatCompletionsModel(url, model: name, key: key, options: client)
        }
    }

    private var policies: PolicyTable {
        var table = PolicyTable()
        switch options.policy {
        case .ask: table.override = .ask([])
        case .auto: table.override = .automatic
        case .deny: table.override = .deny([])
        case nil: break
        }
        for name in options.trusted { table.trust(ToolSourceID(name)) }
        return table
    }

    /// Returns the failure for an error of the model; errors of servers are reported to the model instead.
    private func failure(of error: any Error) -> Failure {
        var failure = FailureMapping.failure(error, method: nil, subject: nil, invocation: invocation)
        if failure.code == .authentication {
            failure.hint = "--model-key-env VAR names the variable that holds the model's key"
        }
        if case .program(let words) = options.model, failure.code == .protocolError {
            failure.code = .unreachable
            failure.kind = .cannotStart
            failure.message = "cannot start the model \(inlineText(words.first ?? "")): \(failure.message)"
        }
        return failure
    }

    private func talk(_ model: any LanguageModel, _ sessions: [Session]) async throws(Failure) -> ExitCode {
        let prompt = ApprovalPrompt(
            sink: console.stderr, style: console.noteStyle,
            person: invocation.options.noInput ? nil : environment.person)
        var printer = AgentPrinter(console: console, printsEvents: options.printsEvents)
        // The clients know when a server is silent for too long, and when it reports progress.
        var limits = HarnessLimits()
        limits.toolTimeout = nil
        do {
            let sources = zip(invocation.servers, sessions).map { server, session in
                MCPServerSource(
                    session.client, id: ToolSourceID(server.name), timeout: invocation.options.timeout)
            }
            let harness = try ToolHarness(
                name: "an agent at a command line",
                summary: "You help the user with the tools you are given.",
                model: model, sources: sources, policies: policies, limits: limits
            ) { await prompt.decide($0) }
            for try await event in harness.stream(
                invocation.operands.first ?? "", rounds: options.rounds)
            { printer.show(event) }
        } catch let error as HarnessError {
            printer.giveUp()
            throw Failure(code: .toolError, kind: .toolError, message: inlineText("\(error)"))
        } catch {
            printer.giveUp()
            throw failure(of: error)
        }
        // A stream whose reader is cancelled ends like one that is complete.
        guard printer.isComplete else {
            printer.giveUp()
            throw StopReason.interrupted
        }
        return prompt.wasMissed ? .inputRequired : .ok
    }
}
