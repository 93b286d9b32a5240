import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Reads `exec` and checks the commands that a call could produce from it.
struct ExecReader {
    /// The path of the tool, `tools.NAME`.
    let path: String
    let input: ToolInput
    let context: ConfigContext

    func read(_ node: ConfigNode, path searchPath: String) -> CommandTemplate? {
        guard let elements = node.elements, let first = elements.first else {
            context.diagnostics.error(
                "\(path).exec must be an array that is not empty: the program, then one string per argument",
                at: node.position)
            return nil
        }
        let program = readProgram(first, searchPath)
        var items: [CommandTemplate.Item] = []
        for element in elements.dropFirst() {
            if let item = readItem(element) { items.append(item) }
        }
        ShellCodeCheck(path: "\(path).exec", context.diagnostics).run(elements)
        return program.map { CommandTemplate(program: $0, items: items) }
    }

    /// Checks the placeholders of a text outside `exec`, where an argument cannot be left out.
    func checkText(_ text: TemplateText?, in key: String, at position: SourcePosition) {
        guard let text else { return }
        for name in text.argumentNames { checkInserted(name, at: position, advice: "give it a default") }
        if key == "cwd", text.literal == nil {
            let root = text.pieces.first.flatMap { piece -> String? in
                if case .argument(let name) = piece { input[name]?.root } else { nil }
            }
            if text.pieces.count != 1 || root == nil {
                context.diagnostics.error(
                    "\(path).cwd must be a directory or one {parameter} with \"format\": \"path\"",
                    at: position)
            }
        }
    }

    private func readProgram(_ node: ConfigNode, _ searchPath: String) -> String? {
        guard case .string(let text) = node.kind, !text.value.isEmpty, !text.value.utf8.contains(0) else {
            context.diagnostics.error("\(path).exec must begin with the program's name", at: node.position)
            return nil
        }
        if let template = try? TemplateText(text), template.literal == nil {
            context.diagnostics.error(
                "\(path).exec: the program must not come from an argument", at: node.position)
            return nil
        }
        let program = text.value.utf8.contains(UInt8(ascii: "/")) ? context.absolute(text.value) : text.value
        if let problem = problem(of: program, searchPath) {
            context.diagnostics.warning("\(path): program \(problem)", at: node.position)
        }
        return program
    }

    /// Returns the reason why a program could not be run now, or `nil` if it could.
    private func problem(of program: String, _ searchPath: String) -> String? {
        let environment = ["PATH": searchPath]
        do throws(SpawnError) {
            let path = try ProcessLaunch(program, environment: environment).resolvedProgram()
            // Of a script, the interpreters and their loaders: the system would name the script instead.
            let files = ProgramFiles.paths(of: path, searchPath: searchPath)
            for file in files.dropFirst() {
                do throws(SpawnError) {
                    _ = try ProcessLaunch(file, environment: environment).resolvedProgram()
                } catch {
                    return "\(path) needs \(file): \(Self.text(error))"
                }
            }
            return files.lazy.compactMap(Paths.replaceable).first.map {
                "\(path) can be replaced by anyone: chmod o-w \($0)"
            }
        } catch {
            return Self.text(error)
        }
    }

    private static func text(_ error: SpawnError) -> String {
        switch error {
        case .notExecutable(let path, let reason) where reason.errno == ENOENT:
            "\(path) was not found"
        // A directory on the way to it may be closed to this user.
        case .notExecutable(let path, let reason) where reason.errno == EACCES && !exists(path):
            "\(path) was not found: its directory cannot be searched (\(reason.reason))"
        case .notExecutable(let path, let reason) where reason.errno == EACCES:
            "\(path) exists but cannot be executed (\(reason.reason)): chmod +x it"
        case .notExecutable(let path, let reason):
            "\(path) cannot be executed: \(reason.reason)"
        case .notFound(let program, let searched):
            "\(program) was not found in PATH (\(SpawnError.shown(searchPath: searched))); "
                + "a service may have another PATH, which \"env\" can set"
        default: error.description
        }
    }

    private static func exists(_ path: String) -> Bool {
        // A directory on the way that is closed to this user: nobody here knows.
        (try? Files.info(path, followsLinks: true)) != nil
    }

    private func readItem(_ node: ConfigNode) -> CommandTemplate.Item? {
        switch node.kind {
        case .string:
            return readElement(node, mayBeAbsent: false).map { .element($0) }
        case .array(let elements):
            let texts = elements.compactMap { readElement($0, mayBeAbsent: true) }
            if texts.count == elements.count, texts.allSatisfy({ $0.argumentNames.isEmpty }) {
                context.diagnostics.error(
                    "\(path).exec: a nested array is dropped when an argument in it is absent, but this one "
                        + "has no placeholder", at: node.position)
            }
            return .optional(texts)
        case .object: return readCondition(node)
        case .null, .bool, .number:
            context.diagnostics.error(
                "\(path).exec: an argument must be a string, not \(node.kindName)", at: node.position)
            return nil
        }
    }

    private func readCondition(_ node: ConfigNode) -> CommandTemplate.Item? {
        guard var reader = ObjectReader(node, path: "\(path).exec", context: context) else { return nil }
        let condition = reader.string("when")
        let arguments = reader.node("args")
        reader.finish()
        guard let condition, let elements = arguments?.elements else {
            context.diagnostics.error(
                "\(path).exec: a condition is {\"when\": \"name\", \"args\": [\"…\"]}", at: node.position
            )
            return nil
        }
        let place = reader.place(of: "when")
        guard let parameter = known(condition, at: place) else { return nil }
        if parameter.kind != .boolean {
            context.diagnostics.error("\(path).exec: \(condition) is not a boolean", at: place)
        }
        return .when(condition, elements.compactMap { readElement($0, mayBeAbsent: true) })
    }

    private func readElement(_ node: ConfigNode, mayBeAbsent: Bool) -> TemplateText? {
        guard case .string(let text) = node.kind else {
            context.diagnostics.error(
                "\(path).exec: an argument must be a string, not \(node.kindName)", at: node.position)
            return nil
        }
        if text.value.utf8.contains(0) {
            context.diagnostics.error("\(path).exec: an argument must not contain NUL", at: node.position)
            return nil
        }
        do throws(TemplateText.Flaw) {
            let element = try TemplateText(text)
            if let name = element.splat {
                if let parameter = known(name, at: node.position), parameter.kind != .array {
                    context.diagnostics.error(
                        "\(path).exec: {\(name)...} needs an array; write {\(name)}", at: node.position)
                }
            } else {
                for name in element.argumentNames {
                    if mayBeAbsent {
                        checkScalar(name, at: node.position)
                    } else {
                        checkInserted(name, at: node.position, advice: "put the element into a nested array")
                    }
                }
            }
            return element
        } catch {
            context.diagnostics.error("\(path).exec: \(error.text)", at: node.position)
            return nil
        }
    }

    private func known(_ name: String, at position: SourcePosition) -> ToolParameter? {
        if let parameter = input[name] { return parameter }
        let near = Suggestion.best(for: name, among: input.parameters.map(\.name))
        let hint = near.map { " (did you mean {\($0)}?)" } ?? ""
        context.diagnostics.error("\(path): placeholder {\(name)} is not in \"input\"\(hint)", at: position)
        return nil
    }

    @discardableResult
    private func checkScalar(_ name: String, at position: SourcePosition) -> ToolParameter? {
        guard let parameter = known(name, at: position) else { return nil }
        if parameter.kind == .array {
            context.diagnostics.error(
                "\(path): {\(name)} is an array; write {\(name)...} as a separate element", at: position)
        }
        return parameter
    }

    private func checkInserted(_ name: String, at position: SourcePosition, advice: String) {
        guard let parameter = checkScalar(name, at: position), !parameter.isAlwaysPresent else { return }
        context.diagnostics.error(
            "\(path): {\(name)} is optional and has no default: \(advice)", at: position)
    }
}
