import MCPCore

/// The arguments of one call, as texts for a command line.
struct ArgumentValues {
    private let parameters: [ToolParameter]
    private let arguments: JSONObject
    private let resolvePath: (String, ToolParameter, _ root: String) throws(ArgumentFailure) -> String

    /// Creates the values; `resolvePath` turns a path argument into the path that the command receives.
    init(
        _ arguments: JSONObject, parameters: [ToolParameter],
        resolvePath: @escaping (String, ToolParameter, _ root: String) throws(ArgumentFailure) -> String
    ) {
        self.arguments = arguments
        self.parameters = parameters
        self.resolvePath = resolvePath
    }

    /// Returns the value from the call, or the default; null counts as absent.
    private func value(_ name: String) -> JSONValue? {
        if let value = arguments[name], !value.isNull { return value }
        return parameters.first { $0.name == name }?.defaultValue
    }

    /// Returns whether there is anything to insert; an empty array counts as nothing.
    func isPresent(_ name: String) -> Bool {
        guard let value = value(name) else { return false }
        return value.arrayValue.map { !$0.isEmpty } ?? true
    }

    func isTrue(_ name: String) -> Bool { value(name)?.boolValue == true }

    func allowsDash(_ name: String) -> Bool { parameters.first { $0.name == name }?.allowsDash ?? false }

    /// Returns the text of a scalar; objects and arrays are inserted as JSON.
    func text(_ name: String) throws(ArgumentFailure) -> String {
        guard let value = value(name) else { throw ArgumentFailure(text: "argument \"\(name)\" is missing") }
        return try text(value, of: name)
    }

    /// Returns one text per item, or none if the argument is absent.
    func texts(_ name: String) throws(ArgumentFailure) -> [String] {
        guard let value = value(name) else { return [] }
        guard let items = value.arrayValue else { return [try text(value, of: name)] }
        var texts: [String] = []
        for item in items { texts.append(try text(item, of: name)) }
        return texts
    }

    private func text(_ value: JSONValue, of name: String) throws(ArgumentFailure) -> String {
        let text: String
        switch value {
        case .string(let string): text = string
        case .number(let number): text = number.int64.map { String($0) } ?? number.text
        case .bool(let flag): text = flag ? "true" : "false"
        case .null: text = ""
        case .array, .object: text = value.serialized()
        }
        // For the program, a NUL would end the element early, although it was checked as a whole (fault row
        // 99).
        if text.utf8.contains(0) {
            throw ArgumentFailure(text: "argument \"\(name)\" contains a NUL character")
        }
        guard let parameter = parameters.first(where: { $0.name == name }), let root = parameter.root else {
            return text
        }
        do throws(ArgumentFailure) {
            return try resolvePath(text, parameter, root)
        } catch {
            throw ArgumentFailure(text: "argument \"\(name)\": \(error.text)")
        }
    }
}
