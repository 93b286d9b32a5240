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
        guard text.value.utf8.contains(UInt8(ascii: "$")) else { return text }
        var output: [UInt8] = []
        var (expanded, foreign): ([Range<Int>], [Range<Int>]) = ([], [])
        for piece in Self.pieces(of: text.value) {
            let start = output.count
            switch piece {
            case .text(let part):
                output.append(contentsOf: part.utf8)
                continue
            case .escape: output.append(contentsOf: "${".utf8)
            case .placeholder(let placeholder):
                output.append(contentsOf: (resolve(placeholder, position, path) ?? "").utf8)
                if isForeign(placeholder) { foreign.append(start ..< output.count) }
            case .unterminated:
                diagnostics.error("${ without a closing }: write $${ for a literal ${", at: position)
                return text
            }
            expanded.append(start ..< output.count)
        }
        let value = String(decoding: output, as: UTF8.self)
        return ConfigText(
            value: value, expanded: expanded, foreign: foreign, isOverride: text.isOverride)
    }

    /// Whether a placeholder may stand for a secret: not a path, and not a default from the configuration.
    private func isForeign(_ placeholder: Placeholder) -> Bool {
        switch placeholder.source {
        case .configDirectory, .workspaceFolder, .userHome, .variable("HOME", fallback: _): false
        case .variable(let key, fallback: .some): context.environment[key]?.isEmpty == false
        default: true
        }
    }

    /// Returns the value of a placeholder, or `nil` after reporting an error.
    private func resolve(
        _ placeholder: Placeholder, _ position: SourcePosition, _ path: String
    ) -> String? {
        let user = path.isEmpty ? "" : " (used by \(path))"
        let name = placeholder.name
        switch placeholder.source {
        case .configDirectory: return context.configDirectory
        case .workspaceFolder:
            return context.workspaceFolder ?? variable(name, nil, position, user)
        case .userHome:
            if let home = context.environment["HOME"], !home.isEmpty { return home }
            diagnostics.error("${userHome} is unknown: HOME is not set\(user)", at: position)
            return nil
        case .file(let file):
            return secret(name, position, user) { () throws(ConfigFileError) in try context.readSecret(file) }
        case .input(let id):
            if let input = context.input {
                return secret(name, position, user) { () throws(ConfigFileError) in try input(id) }
            }
            if case .variable(let key, let fallback) = Placeholder.variable(name) {
                return variable(key, fallback, position, user)
            }
        case .variable(let key, let fallback): return variable(key, fallback, position, user)
        case .unknown: break
        }
        let forms = "${VAR}, ${VAR:-default}, ${env:VAR}, ${file:PATH}, ${userHome} or ${configDir}"
        diagnostics.error("${\(name)} is unknown; use \(forms), or $${ for a literal ${", at: position)
        return nil
    }

    private func variable(
        _ key: String, _ fallback: String?, _ position: SourcePosition, _ user: String
    ) -> String? {
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
}
