import MCPCore

/// `mcp-server explain` and `mcp-server call`: a tool of the configuration, without a client.
struct ToolCommand {
    let file: String?
    let overrides: [Override]
    let environment: [String: String]

    /// Prints what a call would run.
    func explain(_ request: ToolRequest) -> ExitCode {
        guard let (_, definition, arguments, warnings) = load(request, as: "explain") else { return .usage }
        do {
            let lines = try Self.explanation(of: definition, arguments).lines
            Terminal.out(lines + warnings.map { "warning  \($0)" })
            return .success
        } catch {
            return Self.fail(request, error)
        }
    }

    /// Returns what a call would run; throws `ArgumentFailure` for arguments that the command must not get.
    private static func explanation(
        of definition: ToolDefinition, _ arguments: JSONObject
    ) throws -> Explanation {
        let tool = try CommandTool(definition, resolver: PathResolver(), shared: CallSlots(1))
        return Explanation(
            definition, try tool.prepare(arguments, .none), question: try tool.question(arguments))
    }

    /// Prints why nothing was run, or why a call has no result.
    private static func fail(_ request: ToolRequest, _ error: any Error) -> ExitCode {
        guard let error = error as? ArgumentFailure else {
            Terminal.error(["mcp-server: \(request.tool): \(error)"])
            return .failure
        }
        Terminal.error(["mcp-server: \(request.tool): \(error.text) (nothing was run)"])
        return .usage
    }

    /// Calls the tool once in this process and prints its result. Whoever types the command has confirmed it.
    func call(_ request: ToolRequest, superviseCommand: String) async -> ExitCode {
        guard let loaded = load(request, as: "call") else { return .usage }
        var (configuration, definition) = (loaded.configuration, loaded.tool)
        definition.confirmation = nil
        definition.task = .never
        // There is nobody who could read the pages later.
        if definition.overflow == .resource { definition.overflow = .truncate }
        configuration.tools = [definition]
        configuration.files = []
        configuration.prompts = []
        ProcessPrivacy.begin()
        let log = Log.disabled
        let supervisor = ProcessSupervisor(
            program: SupervisorProgram.ownProgram, arguments: [superviseCommand], ownsProcess: true, log: log)
        defer { supervisor.endNow() }
        do {
            _ = try Self.explanation(of: definition, loaded.arguments)
            let builder = ServerBuilder(
                configuration: configuration, log: log, runtime: CommandRuntime(supervisor: supervisor))
            let server = try builder.build().server
            let request = Self.request(definition.name, loaded.arguments)
            guard let bytes = await server.handle(request) else { return .failure }
            let response = try JSONValue(parsing: bytes)
            guard let result = response["result"] else {
                Terminal.error(["mcp-server: \(response["error"]?["message"]?.stringValue ?? "no result")"])
                return .failure
            }
            return Self.show(try CallToolResult(json: result))
        } catch {
            return Self.fail(request, error)
        }
    }

    private static func request(_ tool: String, _ arguments: JSONObject) -> [UInt8] {
        let meta: JSONObject = [
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": [:],
            "io.modelcontextprotocol/clientInfo": [
                "name": "mcp-server", "version": .string(DaemonVersion.current),
            ],
        ]
        let message: JSONValue = [
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": [
                "name": .string(tool), "arguments": .object(arguments), "_meta": .object(meta),
            ],
        ]
        return Array(message.serialized().utf8)
    }

    private static func show(_ result: CallToolResult) -> ExitCode {
        if result.isError {
            Terminal.error(texts(of: result, isTerminal: Terminal.errorIsTerminal))
        } else {
            Terminal.out(texts(of: result, isTerminal: Terminal.outputIsTerminal))
        }
        return result.isError ? .failure : .success
    }

    /// Returns the texts of a result: harmless for a terminal, and elsewhere as they are, since what follows
    /// in a pipe wants the tool's own bytes. The ends of the lines are ours.
    static func texts(of result: CallToolResult, isTerminal: Bool) -> [String] {
        var texts = result.content.map { $0.text ?? "(\($0.type.rawValue))" }
        if let structured = result.structuredContent { texts = [structured.serialized()] }
        return texts.map { text in
            let text = text.dropping(suffix: "\n") ?? text
            return isTerminal ? TerminalText.block(text) : text
        }
    }

    /// Returns the tool, its arguments and the warnings about it, or `nil` after printing what is wrong.
    private func load(
        _ request: ToolRequest, as command: String
    ) -> (configuration: Configuration, tool: ToolDefinition, arguments: JSONObject, warnings: [String])? {
        do throws(CommandLineError) {
            guard let file = file ?? DefaultFile.find(environment) else {
                let places = DefaultFile.candidates(environment).joined(separator: " or ")
                throw CommandLineError(
                    "no configuration file found in \(places)", hint: "mcp-server \(command) -c FILE TOOL")
            }
            let loader = ConfigurationLoader(
                overrides: overrides, environment: environment, purpose: .inspecting)
            let outcome = loader.load(file: file)
            if outcome.diagnostics.hasErrors {
                Terminal.error(outcome.diagnostics.report)
                return nil
            }
            let tools = outcome.configuration.tools
            guard let definition = tools.first(where: { $0.name == request.tool }) else {
                let near = Suggestion.best(for: request.tool, among: tools.map(\.name))
                var others = "the tools are \(tools.prefix(20).map(\.name).joined(separator: ", "))"
                if !outcome.configuration.upstreams.isEmpty {
                    others += "; those of mcpServers are known to the running server only"
                }
                throw CommandLineError(
                    "no tool named \(TerminalText.quoted(request.tool)) in \(file)",
                    hint: near.map { "did you mean \($0)?" } ?? others)
            }
            do throws(ToolWords.Flaw) {
                let arguments = try ToolWords.arguments(request.words, schema: definition.input.schema)
                if let problem = Self.problem(arguments, definition) { throw ToolWords.Flaw(text: problem) }
                return (
                    outcome.configuration, definition, arguments,
                    Self.warnings(outcome.diagnostics, of: definition.name)
                )
            } catch {
                let names = definition.input.parameters.map(\.name).joined(separator: ", ")
                throw CommandLineError(
                    "\(error.text) (nothing was run)",
                    hint: names.isEmpty
                        ? "\(request.tool) has no arguments" : "the arguments of \(request.tool) are \(names)"
                )
            }
        } catch {
            Terminal.error(error.lines)
            return nil
        }
    }

    /// Returns the warnings that `check` prints about one tool.
    private static func warnings(_ diagnostics: Diagnostics, of name: String) -> [String] {
        let places = ["tools.\(name):", "tools.\(name).", "tool \(name) "]
        return diagnostics.sorted.map(\.text).filter { text in places.contains { text.hasPrefix($0) } }
    }

    /// Returns why the arguments do not fit the tool's schema; nil if they do.
    private static func problem(_ arguments: JSONObject, _ definition: ToolDefinition) -> String? {
        guard let schema = try? CompiledSchema(definition.input.schema) else { return nil }
        let violations = schema.validate(.object(arguments))
        guard !violations.isEmpty else { return nil }
        return "the arguments do not fit: " + violations.map(\.description).joined(separator: "; ")
    }
}
