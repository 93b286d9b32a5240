/// Replaces `${…}` in the string values of a configuration, once and not recursively.
///
/// `${VAR}` and `${env:VAR}` read the environment, `${VAR:-default}` has a default, `$env:VAR` stands for a
/// whole value, `${file:PATH}` is the text of a private file, `${userHome}` and `${configDir}` are
/// directories, and `$${` produces a literal `${`. Placeholders for the arguments of tools use another
/// syntax, `{name}`, so that what a caller sends can never trigger an expansion.
package struct Expansion {
    /// The surroundings that the placeholders are resolved against.
    package struct Context {
        package var environment: [String: String]
        package var configDirectory: String
        /// Reads a file for `${file:PATH}`; throws an error with a text for people.
        package var readSecret: (String) throws(ConfigFileError) -> String
        /// The directory of the project, for `${workspaceFolder}`; nil where there is none.
        package var workspaceFolder: String?
        /// Returns the value of `${input:ID}`; nil where there are no inputs.
        package var input: ((String) throws(ConfigFileError) -> String)?

        package init(
            environment: [String: String], configDirectory: String,
            readSecret: @escaping (String) throws(ConfigFileError) -> String
        ) {
            self.environment = environment
            self.configDirectory = configDirectory
            self.readSecret = readSecret
        }
    }

    private let context: Context
    private let diagnostics: Diagnostics

    package init(_ context: Context, diagnostics: Diagnostics) {
        self.context = context
        self.diagnostics = diagnostics
    }

    /// Returns the tree with every string value expanded; every name that cannot be resolved is reported.
    package func expand(_ node: ConfigNode, path: String = "") -> ConfigNode {
        var result = node
        switch node.kind {
        case .string(let text):
            result.kind = .string(expand(text, at: node.position, path: path))
        case .array(let elements):
            result.kind = .array(
                elements.enumerated().map { expand($0.element, path: "\(path)[\($0.offset)]") })
        case .object(let members):
            result.kind = .object(
                members.map { member in
                    var member = member
                    let place = path.isEmpty ? member.key : "\(path).\(member.key)"
                    member.value = expand(member.value, path: place)
                    return member
                })
        case .null, .bool, .number: break
        }
        return result
    }

    private func expand(_ text: ConfigText, at position: SourcePosition, path: String) -> ConfigText {
        let source = Array(text.value.utf8)
        guard source.contains(UInt8(ascii: "$")) else { return text }
        if text.value.hasPrefix("$env:"), Self.isName(text.value.dropFirst(5)) {
            let value = resolve(String(text.value.dropFirst(1)), position, path) ?? ""
            return ConfigText(value: value, expanded: [0 ..< value.utf8.count], isOverride: text.isOverride)
        }
        var output: [UInt8] = []
        var expanded: [Range<Int>] = []
        var index = 0
        while index < source.count {
            let rest = source[index...]
            if rest.starts(with: "$${".utf8) {
                output.append(contentsOf: "${".utf8)
                expanded.append(output.count - 2 ..< output.count)
                index += 3
            } else if rest.starts(with: "${".utf8) {
                guard let close = rest.firstIndex(of: UInt8(ascii: "}")) else {
                    diagnostics.error("${ without a closing }: write $${ for a literal ${", at: position)
                    return text
                }
                let name = String(decoding: source[index + 2 ..< close], as: UTF8.self)
                let start = output.count
                output.append(contentsOf: (resolve(name, position, path) ?? "").utf8)
                expanded.append(start ..< output.count)
                index = close + 1
            } else {
                output.append(source[index])
                index += 1
            }
        }
        let value = String(decoding: output, as: UTF8.self)
        return ConfigText(value: value, expanded: expanded, isOverride: text.isOverride)
    }

    /// Returns the value of `name`, or `nil` after reporting an error.
    private func resolve(_ name: String, _ position: SourcePosition, _ path: String) -> String? {
        let user = path.isEmpty ? "" : " (used by \(path))"
        switch name {
        case "configDir": return context.configDirectory
        case "workspaceFolder" where context.workspaceFolder != nil: return context.workspaceFolder
        case "userHome":
            if let home = context.environment["HOME"], !home.isEmpty { return home }
            diagnostics.error("${userHome} is unknown: HOME is not set\(user)", at: position)
            return nil
        default: break
        }
        if let file = name.dropping(prefix: "file:") {
            return secret(name, position, user) { () throws(ConfigFileError) in try context.readSecret(file) }
        }
        if let input = context.input, let id = name.dropping(prefix: "input:") {
            return secret(name, position, user) { () throws(ConfigFileError) in try input(id) }
        }
        let variable = name.dropping(prefix: "env:") ?? name
        let (key, fallback) = Self.splitDefault(variable)
        guard Self.isName(key[...]) else {
            let forms = "${VAR}, ${VAR:-default}, ${env:VAR}, ${file:PATH}, ${userHome} or ${configDir}"
            diagnostics.error(
                "${\(name)} is unknown; use \(forms), or $${ for a literal ${", at: position)
            return nil
        }
        if let value = context.environment[key], !(value.isEmpty && fallback != nil) { return value }
        if let fallback { return fallback }
        let hint = Suggestion.hint(for: key, among: context.environment.keys.sorted())
        diagnostics.error("${\(key)} is not set\(user)\(hint)", at: position)
        return nil
    }

    /// Returns a value that no message may repeat, or `nil` after reporting an error.
    private func secret(
        _ name: String, _ position: SourcePosition, _ user: String,
        _ read: () throws(ConfigFileError) -> String
    ) -> String? {
        do throws(ConfigFileError) {
            let secret = try read()
            diagnostics.conceal(secret, as: "${\(name)}")
            return secret
        } catch {
            diagnostics.error("${\(name)}: \(error.text)\(user)", at: position)
            return nil
        }
    }

    private static func splitDefault(_ text: String) -> (key: String, fallback: String?) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix(":-") else { return (text, nil) }
        return (String(text[..<colon]), String(text[colon...].dropFirst(2)))
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !(UInt8(ascii: "0") ... UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return text.utf8.allSatisfy { ASCII.isWord($0) }
    }
}
