import MCPCore

/// Reads the entries of `tools`.
struct ToolReader {
    let context: ConfigContext

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
        let environment = environment(&reader)
        let timeout = reader.duration("timeout")
        let maxOutput = reader.size("maxOutput", in: 1 ... 1 << 30)
        let result = reader.word("result", as: ToolDefinition.ResultKind.self) ?? .text
        let outputSchema = outputSchema(&reader, result: result)
        let annotations = annotations(&reader)
        let concurrency = reader.integer("concurrency", in: 1 ... 10_000)
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
        let used =
            command.items.flatMap(\.allNames)
            + [standardInput, workingDirectory].compactMap { $0 }
            .flatMap(\.argumentNames)
        for parameter in input.parameters where !used.contains(parameter.name) {
            context.diagnostics.warning(
                "\(reader.path): parameter \(parameter.name) is not used in the command",
                at: inputNode?.position ?? reader.position)
        }
        return ToolDefinition(
            name: name, title: title, description: description, input: input, command: command,
            standardInput: standardInput,
            workingDirectory: absoluteDirectory(workingDirectory, input, at: reader.place(of: "cwd")),
            environment: environment, timeout: timeout ?? ToolDefinition.defaultTimeout,
            maxOutput: maxOutput ?? ToolDefinition.defaultMaxOutput, result: result,
            outputSchema: outputSchema,
            annotations: annotations, concurrency: concurrency)
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

    /// Returns PATH, LANG and HOME of this process, and the variables in `env`.
    private func environment(_ reader: inout ObjectReader) -> [String: String] {
        var environment = [
            "PATH": context.environment["PATH"] ?? Paths.defaultSearchPath,
            "LANG": context.environment["LANG"] ?? "C.UTF-8",
        ]
        environment["HOME"] = context.environment["HOME"]
        guard let entries = reader.object("env") else { return environment }
        for entry in entries.members {
            if entry.key.isEmpty || entry.key.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "=") }) {
                context.diagnostics.error(
                    "\(entries.path): \"\(entry.key)\" is not a variable name", at: entry.keyPosition)
            }
            guard let value = entry.value.string, !value.utf8.contains(0) else {
                entries.wrongType(entry.key, entry.value, expected: "a string without NUL")
                continue
            }
            environment[entry.key] = value
        }
        return environment
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

    private func annotations(_ reader: inout ObjectReader) -> ToolAnnotations? {
        guard var hints = reader.object("annotations") else { return nil }
        let annotations = ToolAnnotations(
            title: hints.string("title"), readOnlyHint: hints.bool("readOnlyHint"),
            destructiveHint: hints.bool("destructiveHint"), idempotentHint: hints.bool("idempotentHint"),
            openWorldHint: hints.bool("openWorldHint"))
        hints.finish()
        return annotations
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
