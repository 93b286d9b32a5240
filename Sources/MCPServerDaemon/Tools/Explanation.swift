import MCPCore

/// What one call would run, as lines for a terminal.
struct Explanation {
    let lines: [String]

    /// - Parameter question: what the user would be asked first.
    init(_ definition: ToolDefinition, _ run: CommandTool.PreparedRun, question: String?) {
        let names = (Array(run.environment.keys) + [ProcessSupervisor.variable]).sorted()
        var facts = [
            "cwd      \(TerminalText.word(run.directory))", "env " + names.joined(separator: " "),
            "timeout \(Units.describe(definition.timeout))",
            "output \(Units.describe(bytes: definition.maxOutput)) \(Self.overflow(definition.overflow))",
        ]
        if let count = definition.concurrency { facts.append("concurrency \(count)") }
        if !run.input.isEmpty { facts.append("stdin \(Units.describe(bytes: run.input.count))") }
        lines =
            [
                "argv     " + run.argv.map(TerminalText.word).joined(separator: " "),
                facts.joined(separator: "   "),
            ]
            + run.opened.enumerated().map { index, file in
                "opened   \(PassedDescriptor.path(index)) \(TerminalText.word(file.root + "/" + file.path))"
            } + (question.map { ["confirm  \($0)"] } ?? []) + [
                "sandbox  " + Self.sandbox(definition, run),
                "limits   " + Self.limits(definition.restriction.limits) + "     (nothing was run)",
            ]
    }

    /// Returns the rights that the command would have here.
    private static func sandbox(_ definition: ToolDefinition, _ run: CommandTool.PreparedRun) -> String {
        guard let sandbox = definition.sandbox else { return "none" }
        let searchPath = run.environment["PATH"] ?? ""
        let launch = ProcessLaunch(run.argv[0], environment: run.environment, directory: run.directory)
        let program = (try? launch.resolvedProgram()).map {
            ProgramFiles.paths(of: $0, searchPath: searchPath)
        }
        return sandbox.described(.current, program: program ?? [], hasLimits: false)
    }

    private static func limits(_ limits: ResourceLimits) -> String {
        let parts = SandboxDefinition.texts(limits)
        return parts.isEmpty ? "none" : parts.joined(separator: " · ")
    }

    private static func overflow(_ overflow: ToolDefinition.Overflow) -> String {
        switch overflow {
        case .error: "→ stopped"
        case .truncate: "→ truncated"
        case .resource: "→ resource"
        }
    }
}
