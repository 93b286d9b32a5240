import MCPCore

/// One parameter of a command.
struct ToolParameter: Sendable, Hashable {
    enum Kind: Sendable, Hashable { case array, boolean, other }

    var name: String
    var kind: Kind = .other
    var isRequired = false
    var defaultValue: JSONValue?
    /// Whether its values may begin with `-` at the beginning of an element.
    var allowsDash = false
    /// The directory beneath which its values are paths.
    var root: String?
    /// Whether the command receives what its path names as an open descriptor.
    var isOpened = false

    /// Whether a call always has a value for it.
    var isAlwaysPresent: Bool { isRequired || defaultValue != nil }
}

/// The parameters of a tool and the schema that clients see.
struct ToolInput: Sendable, Hashable {
    var parameters: [ToolParameter]
    var schema: JSONValue

    static let empty = ToolInput(
        parameters: [], schema: ["type": "object", "properties": [:], "additionalProperties": false])

    subscript(name: String) -> ToolParameter? { parameters.first { $0.name == name } }
}

/// Reads `input`: a full JSON Schema if it contains `"type": "object"`, otherwise the shorthand whose keys
/// are parameters.
struct ToolInputReader {
    /// The daemon's own keys inside a parameter's schema; clients do not see them.
    private static let ownKeys: Set<String> = ["x-root", "x-open", "dash"]

    let path: String
    let context: ConfigContext

    func read(_ node: ConfigNode) -> ToolInput? {
        guard let members = node.members else {
            context.diagnostics.error("\(path) must be an object, not \(node.kindName)", at: node.position)
            return nil
        }
        let isFullSchema = node["type"]?.string == "object"
        let input = isFullSchema ? readSchema(node, members) : readShorthand(members)
        do {
            _ = try CompiledSchema(input.schema)
        } catch {
            context.diagnostics.error("\(path): \(error)", at: node.position)
        }
        return input
    }

    private func readShorthand(_ members: [ConfigMember]) -> ToolInput {
        var parameters: [ToolParameter] = []
        var properties = JSONObject()
        var required: [JSONValue] = []
        for member in members {
            let optionalName = member.key.dropping(suffix: "?")
            let name = optionalName ?? member.key
            guard TemplateText.isName(name) else {
                context.diagnostics.error(
                    "\(path): \"\(member.key)\" is not a parameter name (letters, digits, _ and -; ? at "
                        + "the end makes it optional)", at: member.keyPosition)
                continue
            }
            if parameters.contains(where: { $0.name == name }) {
                context.diagnostics.error("\(path): \"\(name)\" occurs twice", at: member.keyPosition)
                continue
            }
            guard var parameter = readParameter(name, member.value) else { continue }
            parameter.isRequired = optionalName == nil
            if parameter.isRequired { required.append(.string(name)) }
            parameters.append(parameter)
            properties[name] = published(member.value)
        }
        var schema: JSONObject = ["type": "object", "properties": .object(properties)]
        if !required.isEmpty { schema["required"] = .array(required) }
        schema["additionalProperties"] = false
        return ToolInput(parameters: parameters, schema: .object(schema))
    }

    private func readSchema(_ node: ConfigNode, _ members: [ConfigMember]) -> ToolInput {
        let required = node["required"]?.elements?.compactMap(\.string) ?? []
        var parameters: [ToolParameter] = []
        for property in node["properties"]?.members ?? [] {
            guard var parameter = readParameter(property.key, property.value) else { continue }
            parameter.isRequired = required.contains(property.key)
            parameters.append(parameter)
        }
        let check = SchemaCheck(diagnostics: context.diagnostics) { published($0) }
        check.checkPaths(path, node, at: node.position, passingOver: ["properties"])
        var schema = JSONObject()
        for member in members {
            guard member.key == "properties", let properties = member.value.members else {
                schema[member.key] = member.value.json
                continue
            }
            var published = JSONObject()
            for property in properties { published[property.key] = self.published(property.value) }
            schema["properties"] = .object(published)
        }
        return ToolInput(parameters: parameters, schema: .object(schema))
    }

    private func readParameter(_ name: String, _ node: ConfigNode) -> ToolParameter? {
        guard node.members != nil else {
            context.diagnostics.error(
                "\(path).\(name) must be a schema like {\"type\": \"string\"}, not \(node.kindName)",
                at: node.position)
            return nil
        }
        var parameter = ToolParameter(name: name)
        switch node["type"]?.string {
        case "array": parameter.kind = .array
        case "boolean": parameter.kind = .boolean
        default: parameter.kind = .other
        }
        parameter.defaultValue = node["default"]?.json
        if let dash = node["dash"] {
            if case .bool(let value) = dash.kind {
                parameter.allowsDash = value
            } else {
                context.diagnostics.error("\(path).\(name).dash must be true or false", at: dash.position)
            }
        }
        let check = SchemaCheck(diagnostics: context.diagnostics) { published($0) }
        check.run("\(path).\(name)", node)
        let valueSchema = parameter.kind == .array ? node["items"] ?? node : node
        parameter.root = readRoot("\(path).\(name)", valueSchema)
        parameter.isOpened = readOpen("\(path).\(name)", valueSchema)
        check.checkPaths("\(path).\(name)", node, at: valueSchema.position)
        return parameter
    }

    /// Returns the directory of a path parameter; a path without one could lead anywhere.
    private func readRoot(_ path: String, _ schema: ConfigNode) -> String? {
        let isPath = schema["format"]?.string == "path"
        guard let root = schema["x-root"] else {
            if isPath {
                context.diagnostics.error(
                    "\(path): \"format\": \"path\" needs \"x-root\", the directory that contains it",
                    at: schema.position)
            }
            return nil
        }
        guard let text = root.string else {
            context.diagnostics.error(
                "\(path).x-root must be a string, not \(root.kindName)", at: root.position)
            return nil
        }
        if !isPath {
            context.diagnostics.error("\(path): \"x-root\" needs \"format\": \"path\"", at: root.position)
        }
        let directory = context.absolute(text)
        if let problem = Paths.directoryProblem(directory) {
            context.diagnostics.error("\(path).x-root: \(text) \(problem)", at: root.position)
        }
        return directory
    }

    /// Returns whether a path is passed as an open descriptor.
    private func readOpen(_ path: String, _ schema: ConfigNode) -> Bool {
        guard let open = schema["x-open"] else { return false }
        guard case .bool(let value) = open.kind else {
            context.diagnostics.error(
                "\(path).x-open must be true or false, not \(open.kindName)", at: open.position)
            return false
        }
        if value, schema["x-root"] == nil {
            context.diagnostics.error(
                "\(path): \"x-open\" needs \"x-root\", the directory that contains the path",
                at: open.position)
        }
        if value, !PassedDescriptor.havePaths {
            context.diagnostics.error("\(path): \"x-open\" is available on Linux only", at: open.position)
        }
        return value
    }

    /// Returns a parameter's schema as clients see it: the directories of this host do not concern them.
    private func published(_ node: ConfigNode) -> JSONValue {
        guard let members = node.members else { return node.json }
        var object = JSONObject()
        for member in members where !Self.ownKeys.contains(member.key) {
            object[member.key] = member.key == "items" ? published(member.value) : member.value.json
        }
        return .object(object)
    }
}
