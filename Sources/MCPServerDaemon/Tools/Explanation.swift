import MCPCore

/// What one call would run, as lines for a terminal.
struct Explanation {
    let lines: [String]

    /// - Parameter question: what the user would be asked first.
    init(_ definition: ToolDefinition, _ run: CommandTool.PreparedRun, question: String?) {
        let names = (Array(run.environment.keys) + [ProcessSupervisor.variable]).sorted()
        var facts = [
            "cwd      \(Self.quoted(run.directory))", "env " + names.joined(separator: " "),
            "timeout \(Units.describe(definition.timeout))",
            "output \(Units.describe(bytes: definition.maxOutput)) \(Self.overflow(definition.overflow))",
        ]
        if let count = definition.concurrency { facts.append("concurrency \(count)") }
        if !run.input.isEmpty { facts.append("stdin \(Units.describe(bytes: run.input.count))") }
        lines =
            [
                "argv     " + run.argv.map(Self.quoted).joined(separator: " "),
                facts.joined(separator: "   "),
            ] + (question.map { ["confirm  \($0)"] } ?? []) + [
                "limits   \(Self.limits(definition.limits))     (nothing was run)"
            ]
    }

    private static func overflow(_ overflow: ToolDefinition.Overflow) -> String {
        switch overflow {
        case .error: "→ stopped"
        case .truncate: "→ truncated"
        case .resource: "→ resource"
        }
    }

    private static func limits(_ limits: ResourceLimits) -> String {
        let parts = [
            limits.cpu.map { "cpu \(Units.describe(.seconds($0)))" },
            limits.memory.map { "memory \(Units.describe(bytes: $0))" },
            limits.fileSize.map { "file size \(Units.describe(bytes: $0))" },
            limits.processes.map { "processes \($0)" }, limits.openFiles.map { "open files \($0)" },
        ].compactMap { $0 }
        return parts.isEmpty ? "none" : parts.joined(separator: " · ")
    }

    /// Returns a word in double quotes if a shell would not read it as one word.
    private static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty && word.utf8.allSatisfy { ASCII.isWord($0) || "-./:=@%+,".utf8.contains($0) }
        return isPlain ? word : TerminalText.quoted(word)
    }
}
