import MCPCore

/// Reads the entries of `tools`.
struct ToolReader {
    let context: ConfigContext
    let sandboxes: SandboxCatalog

    func readAll(_ node: ConfigNode) -> [ToolDefinition] {
        guard let members = node.members else {
            context.diagnostics.error("tools must be an object, not \(node.kindName)", at: node.position)
            return []
        }
        return members.compactMap { member in
            checkName(member)
            return ObjectReader(member.value, path: "tools.\(member.key)", context: context)
                .flatMap { read(member.key, $0) }
        }
    }

    /// Checks a name by MCP 2025-11-25 server/tools "Tool Names"; hosts refuse more than 64 characters.
    private func checkName(_ member: ConfigMember) {
        let name = member.key
        let isValid = name.utf8.allSatisfy {
            ASCII.isWord($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
        if !isValid || name.isEmpty || name.utf8.count > 64 {
            context.diagnostics.error(
                "\"\(name)\" is not a tool name: 1 to 64 letters, digits, _, - and .",
                at: member.keyPosition)
        }
    }

    private func read(_ name: String, _ reader: ObjectReader) -> ToolDefinition? {
        var reader = reader
        let title = reader.string("title")
        let description = reader.text("description")
        let inputNode = reader.node("input")
        let input =
            inputNode.map {
                ToolInputReader(path: reader.pathOf("input"), context: context).read($0)
            } ?? .empty
        let execNode = reader.node("exec")
        let standardInput = template("stdin", &reader)
        let workingDirectory = template("cwd", &reader)
        let sandbox = sandboxes.sandbox(&reader)
        let environment = reader.childEnvironment(sandbox?.environment ?? [:])
        let timeout = reader.duration("timeout")
        let maxOutput = reader.size("maxOutput", in: 1 ... 1 << 30)
        let result = reader.word("result", as: ToolDefinition.ResultKind.self) ?? .text
        let outputSchema = outputSchema(&reader, result: result)
        let annotations = reader.toolAnnotations()
        let concurrency = reader.integer("concurrency", in: 1 ... 10_000)
        let confirmation = template("confirm", &reader)
        var behaviour = ToolBehaviourReader(context: context).read(&reader, result, annotations)
        reader.finish()
        guard let execNode else {
            context.diagnostics.error("\(reader.path) has no \"exec\"", at: reader.position)
            return nil
        }
        // Without a readable input, every placeholder would be reported as unknown.
        guard let input else { return nil }
        let exec = ExecReader(path: reader.path, input: input, context: context)
        guard let command = exec.read(execNode, path: environment["PATH"] ?? "") else { return nil }
        exec.checkText(standardInput, in: "stdin", at: reader.place(of: "stdin"))
        exec.checkText(workingDirectory, in: "cwd", at: reader.place(of: "cwd"))
        exec.checkText(confirmation, in: "confirm", at: reader.place(of: "confirm"))
        checkTexts(confirmation, environment, reader)
        let used =
            command.items.flatMap(\.allNames)
            + [standardInput, workingDirectory].compactMap { $0 }
            .flatMap(\.argumentNames)
        for parameter in input.parameters where !used.contains(parameter.name) {
            context.diagnostics.warning(
                "\(reader.path): parameter \(parameter.name) is not used in the command",
                at: inputNode?.position ?? reader.position)
        }
        behaviour.confirmation = confirmation
        behaviour.sandbox = sandbox
        checkRoots(input, sandbox, path: reader.path, at: inputNode?.position ?? reader.position)
        return behaviour.applied(
            to: ToolDefinition(
                name: name, title: title, description: description, input: input, command: command,
                standardInput: standardInput,
                workingDirectory: absoluteDirectory(workingDirectory, input, at: reader.place(of: "cwd")),
                environment: environment, timeout: timeout ?? ToolDefinition.defaultTimeout,
                maxOutput: maxOutput ?? ToolDefinition.defaultMaxOutput, result: result,
                outputSchema: outputSchema,
                annotations: annotations, concurrency: concurrency))
    }

    /// The variables that each command has, whatever is configured.
    private static let ownVariables = ["MCP_TOOL", "MCP_SUPERVISOR"]

    private func checkTexts(
        _ confirmation: TemplateText?, _ environment: [String: String], _ reader: ObjectReader
    ) {
        if confirmation?.literal?.trimmed.isEmpty == true {
            context.diagnostics.error(
                "\(reader.pathOf("confirm")) must not be empty: it is the question to the user",
                at: reader.place(of: "confirm"))
        }
        for name in Self.ownVariables where environment[name] != nil {
            context.diagnostics.warning(
                "\(reader.path): \(name) in \"env\" has no effect: the server sets it",
                at: reader.place(of: "env"))
        }
    }

    /// Warns of path parameters whose files the command cannot read.
    private func checkRoots(
        _ input: ToolInput, _ sandbox: SandboxDefinition?, path: String, at position: SourcePosition
    ) {
        guard let sandbox else { return }
        for parameter in input.parameters {
            guard let root = parameter.root, !sandbox.mayRead(root) else { continue }
            context.diagnostics.warning(
                "\(path): \(sandbox.title) does not let the command read \(root), the x-root of "
                    + "\(parameter.name)", at: position)
        }
    }

    private func template(_ key: String, _ reader: inout ObjectReader) -> TemplateText? {
        guard let node = reader.node(key) else { return nil }
        guard case .string(let text) = node.kind else {
            reader.wrongType(key, node, expected: "a string")
            return nil
        }
        do throws(TemplateText.Flaw) {
            let template = try TemplateText(text)
            if let name = template.splat {
                context.diagnostics.error(
                    "\(reader.pathOf(key)): {\(name)...} is allowed only in exec", at: node.position)
                return nil
            }
            return template
        } catch {
            context.diagnostics.error("\(reader.pathOf(key)): \(error.text)", at: node.position)
            return nil
        }
    }

    /// Returns the directory where the command runs: `cwd`, otherwise the root of the first path parameter,
    /// otherwise the configuration's directory.
    private func absoluteDirectory(
        _ template: TemplateText?, _ input: ToolInput, at position: SourcePosition
    ) -> TemplateText {
        if let template, template.literal == nil { return template }
        let roots = input.parameters.compactMap(\.root)
        let directory = template?.literal.map(context.absolute) ?? roots.first ?? context.directory
        if template != nil, let problem = Paths.directoryProblem(directory) {
            context.diagnostics.error("cwd: \(directory) \(problem)", at: position)
        }
        return TemplateText(literal: directory)
    }

    /// Returns the schema of the structured result: an object, which every revision of MCP can carry.
    private func outputSchema(_ reader: inout ObjectReader, result: ToolDefinition.ResultKind) -> JSONValue? {
        guard let node = reader.node("output") else { return nil }
        guard node.members != nil else {
            reader.wrongType("output", node, expected: "a JSON Schema with \"type\": \"object\"")
            return nil
        }
        guard node["type"]?.string == "object" else {
            context.diagnostics.error(
                "\(reader.pathOf("output")) must have \"type\": \"object\"", at: node.position)
            return nil
        }
        if result == .text {
            context.diagnostics.error(
                "\(reader.pathOf("output")) needs \"result\": \"json\" or \"jsonlines\"", at: node.position)
        }
        do {
            _ = try CompiledSchema(node.json)
        } catch {
            context.diagnostics.error("\(reader.pathOf("output")): \(error)", at: node.position)
        }
        return node.json
    }
}

extension CommandTemplate.Item {
    /// Every parameter that the item mentions, including the condition.
    var allNames: [String] {
        var names = elements.flatMap(\.argumentNames)
        if case .when(let condition, _) = self { names.append(condition) }
        return names
    }
}
