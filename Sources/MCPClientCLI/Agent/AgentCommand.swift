import MCPCore

/// `agent`: a model uses the tools of servers, under the approval of the person at the terminal.
struct AgentCommand {
    let environment: CommandEnvironment
    let console: Console
    let invocation: Invocation
    private var options: AgentOptions { invocation.options.agent }

    func run() async throws(Failure) -> ExitCode {
        let model = try model()
        let timings = Timings()
        let connector = Connector(environment: environment, console: console, timings: timings)
        var sessions: [Session] = []
        do throws(Failure) {
            for server in invocation.servers {
                sessions.append(try await connector.connect(server.target, invocation))
            }
            let code = try await talk(model, sessions)
            for session in sessions { await session.client.close() }
            return code
        } catch {
            for session in sessions { await session.client.close() }
            throw error
        }
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
                guard let value = environment.variable(variable) else {
                    throw .usage("the environment has no variable \(inlineText(variable))")
                }
                key = value.trimmingWhitespace()
            }
            var client = ClientOptions(name: CommandRunner.name, version: CommandRunner.version)
            client.connectTimeout = invocation.options.connectTimeout
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

    private func talk(_ model: any LanguageModel, _ sessions: [Session]) async throws(Failure) -> ExitCode {
        let prompt = ApprovalPrompt(
            sink: console.stderr, style: console.noteStyle,
            readLine: invocation.options.noInput ? nil : environment.readLine)
        let printer = AgentPrinter(console: console, printsEvents: options.printsEvents)
        do {
            let sources = zip(invocation.servers, sessions).map { server, session in
                MCPServerSource(
                    session.client, id: ToolSourceID(server.name), timeout: invocation.options.timeout)
            }
            let harness = try ToolHarness(
                name: "an agent at a command line",
                summary: "You help the user with the tools you are given.",
                model: model, sources: sources, policies: policies
            ) { await prompt.decide($0) }
            for try await event in harness.stream(
                invocation.operands.first ?? "", rounds: options.rounds)
            { printer.show(event) }
        } catch let error as HarnessError {
            throw Failure(code: .toolError, kind: .toolError, message: inlineText("\(error)"))
        } catch {
            throw FailureMapping.failure(error, method: nil, subject: nil, invocation: invocation)
        }
        return prompt.wasMissed ? .inputRequired : .ok
    }
}
