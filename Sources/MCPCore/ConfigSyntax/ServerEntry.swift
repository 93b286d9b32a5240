/// A server in the form in which hosts of MCP configure it: a program, or an address with headers.
package struct ServerEntry: Sendable, Hashable {
    /// The way to reach a server.
    package enum Place: Sendable, Hashable {
        case program([String])
        case http(String)
        case unix(path: String, endpoint: String)
    }

    package let name: String
    package let place: Place
    /// The variables of a program, in addition to those that it inherits.
    package var environment: [(name: String, value: String)] { variables.map { ($0.name, $0.value) } }
    /// The working directory of a program, as it is written.
    package let directory: String?
    /// A file with further variables of a program, as it is written; those of `environment` win.
    package let environmentFile: String?
    /// The header fields of an HTTP server.
    package var headers: [(name: String, value: String)] { fields.map { ($0.name, $0.value) } }
    package let isDisabled: Bool
    /// How to log in; nil without such a member.
    package let login: ServerLogin?

    private let variables: [Member]
    private let fields: [Member]

    struct Member: Sendable, Hashable {
        let name: String
        let value: String
    }

    init(
        name: String, place: Place, variables: [Member], directory: String?, fields: [Member],
        isDisabled: Bool, login: ServerLogin? = nil, environmentFile: String? = nil
    ) {
        self.name = name
        self.place = place
        self.variables = variables
        self.directory = directory
        self.fields = fields
        self.isDisabled = isDisabled
        self.login = login
        self.environmentFile = environmentFile
    }

    // MARK: Names that hosts use

    /// The members that name servers in a file: most hosts have the first one, VS Code the second.
    package static let lists = ["mcpServers", "servers"]
    /// The members that mean `url`.
    package static let urlNames = ["url", "baseUrl", "serverUrl", "httpUrl"]
    /// The members that mean `type`.
    package static let typeNames = ["type", "transport", "transportType"]

    /// The kinds of connections, under all their names.
    package enum Kind: String, CaseIterable {
        case stdio, http, sse
        case streamableHTTP = "streamable-http"
        case streamableHttp
        /// A program, in the files of Copilot CLI.
        case local

        package var isProgram: Bool { self == .stdio || self == .local }
    }

    /// Returns the place that a URL names; throws what is wrong with it.
    package static func place(ofURL url: String) throws(ConfigFileError) -> Place {
        if let rest = url.dropping(prefix: "unix://") {
            let parts = rest.split(separator: "#", maxSplits: 1).map(String.init)
            guard let path = parts.first, path.hasPrefix("/") else {
                throw ConfigFileError(text: ": the path of a socket is absolute: unix:///run/mcp.sock")
            }
            return .unix(path: path, endpoint: parts.count > 1 ? parts[1] : "/mcp")
        }
        guard let rest = url.dropping(prefix: "http://") ?? url.dropping(prefix: "https://") else {
            let isPort = url.split(separator: "/").first?.split(separator: ":").dropFirst().first
                .map { !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isDigit) }
            let whole = "http://" + url.cleaned(maxBytes: 256) + (url.contains("/") ? "" : "/mcp")
            throw ConfigFileError(
                text: " must begin with https://, http:// or unix:///"
                    + (isPort == true ? "; did you mean \(whole)?" : ""))
        }
        guard !rest.isEmpty, rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw ConfigFileError(text: " must have a host, and neither blanks nor letters outside ASCII")
        }
        return .http(url)
    }

    /// Whether a header field can be sent: RFC 9110, 5.5 and 5.6.2.
    package static func isField(_ name: String, _ value: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { ASCII.isWord($0) || "!#$%&'*+-.^`|~".utf8.contains($0) }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    /// Whether a variable can be set.
    package static func isVariable(_ name: String, _ value: String) -> Bool {
        !name.isEmpty && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "=") } && !value.utf8.contains(0)
    }
}

/// Reads servers from the configuration files of any host.
///
/// Members that it does not know are ignored: other hosts have their own. A member that it does know and that
/// has the wrong type is an error, because a server without the argument that restricts it would do more than
/// was intended.
package struct ServerEntryReader {
    private let node: ConfigNode
    private let name: String
    private let diagnostics: Diagnostics
    /// Whether texts may contain placeholders, whose values are not known yet.
    private let hasPlaceholders: Bool

    private init(_ name: String, _ node: ConfigNode, _ diagnostics: Diagnostics, hasPlaceholders: Bool) {
        (self.name, self.node, self.diagnostics) = (name, node, diagnostics)
        self.hasPlaceholders = hasPlaceholders
    }

    /// Returns the member of a file that lists its servers; nil if it has none.
    package static func list(in root: ConfigNode) -> ConfigMember? {
        for name in ServerEntry.lists {
            if let member = root.members?.first(where: { $0.key == name }) { return member }
        }
        return nil
    }

    /// Reads one server, whose texts are expanded; returns nil after reporting an error.
    package static func read(
        _ name: String, _ node: ConfigNode, into diagnostics: Diagnostics
    ) -> ServerEntry? {
        let before = diagnostics.errorCount
        let reader = ServerEntryReader(name, node, diagnostics, hasPlaceholders: false)
        guard let entry = reader.read(), diagnostics.errorCount == before else { return nil }
        return entry
    }

    /// Reports what is wrong with a server whatever its placeholders stand for.
    package static func check(_ name: String, _ node: ConfigNode, into diagnostics: Diagnostics) {
        _ = ServerEntryReader(name, node, diagnostics, hasPlaceholders: true).read()
    }

    /// Returns the members of a server that mean nothing here.
    package static func unknownMembers(of node: ConfigNode) -> [ConfigMember] {
        (node.members ?? []).filter { !known.contains($0.key) }
    }

    private static let known =
        ["command", "args", "env", "envFile", "cwd", "headers", "disabled", "enabled", "oauth"]
        + ServerEntry.urlNames + ServerEntry.typeNames

    private func error(_ problem: String, at position: SourcePosition? = nil) {
        diagnostics.error("the server \"\(name)\" \(problem)", at: position ?? node.position)
    }

    private func read() -> ServerEntry? {
        guard let members = node.members else {
            error("must be an object, not \(node.kindName)")
            return nil
        }
        for member in members { check(member) }
        let isDisabled = flag("disabled") == true || flag("enabled") == false
        guard let place = place() else { return nil }
        return ServerEntry(
            name: name, place: place, variables: variables(), directory: text("cwd"), fields: fields(),
            isDisabled: isDisabled, login: login(place), environmentFile: environmentFile(place))
    }

    private func environmentFile(_ place: ServerEntry.Place) -> String? {
        guard let file = text("envFile") else { return nil }
        if case .program = place { return file }
        error("has envFile, but no command", at: node["envFile"]?.position)
        return nil
    }

    /// Whether a text is not known yet.
    private func isOpen(_ text: String) -> Bool { hasPlaceholders && text.contains("$") }

    private func login(_ place: ServerEntry.Place) -> ServerLogin? {
        guard let value = node["oauth"] else { return nil }
        // Some hosts have true or false there: whether to log in, which the server decides here.
        if case .bool = value.kind { return nil }
        guard value.members != nil else {
            error("has oauth that must be an object, not \(value.kindName)", at: value.position)
            return nil
        }
        if case .program = place {
            error("has oauth, but a command: programs get credentials from env", at: value.position)
        }
        return ServerLogin(value) { error("has oauth \($0)", at: $1) }
    }

    /// Rejects names that are probably misspelled, and those without which the server would be another one.
    private func check(_ member: ConfigMember) {
        guard !Self.known.contains(member.key),
            let best = Suggestion.best(for: member.key, among: Self.known)
        else { return }
        error("has an unknown member \"\(member.key)\"; did you mean \(best)?", at: member.keyPosition)
    }

    private func place() -> ServerEntry.Place? {
        let urls = ServerEntry.urlNames.filter { node[$0] != nil }
        let kind = kind()
        if node["command"] != nil {
            if let url = urls.first { error("has both command and \(url)") }
            if let kind, !kind.isProgram { error("has the type \"\(kind.rawValue)\", but a command") }
            guard let program = text("command"), !program.isEmpty else {
                if node["command"]?.string != nil { error("has an empty command") }
                return nil
            }
            let words = [program] + texts("args")
            if words.contains(where: { $0.utf8.contains(0) }) { error("has a command with NUL in it") }
            return .program(words)
        }
        guard let key = urls.first else {
            error("has neither url nor command")
            return nil
        }
        if let kind, kind.isProgram { error("has the type \"\(kind.rawValue)\", but no command") }
        guard let url = text(key) else { return nil }
        if isOpen(url) { return .http(url) }
        do throws(ConfigFileError) { return try ServerEntry.place(ofURL: url) } catch {
            self.error("has a \(key) that cannot be used: \(key)\(error.text)", at: node[key]?.position)
            return nil
        }
    }

    private func kind() -> ServerEntry.Kind? {
        for name in ServerEntry.typeNames {
            guard let text = text(name) else { continue }
            if let kind = ServerEntry.Kind(rawValue: text) { return kind }
            if isOpen(text) { return nil }
            error("has the unknown type \"\(text)\"", at: node[name]?.position)
        }
        return nil
    }

    private func text(_ member: String) -> String? {
        guard let value = node[member] else { return nil }
        if let text = value.string { return text }
        error("has a \(member) that must be a string, not \(value.kindName)", at: value.position)
        return nil
    }

    private func flag(_ member: String) -> Bool? {
        guard let value = node[member] else { return nil }
        if case .bool(let flag) = value.kind { return flag }
        error("has a \(member) that must be true or false, not \(value.kindName)", at: value.position)
        return nil
    }

    private func texts(_ member: String) -> [String] {
        guard let value = node[member] else { return [] }
        let texts = value.elements?.map(\.string)
        guard let texts, !texts.contains(nil) else {
            error("has \(member) that must be an array of strings", at: value.position)
            return []
        }
        return texts.compactMap { $0 }
    }

    private func members(_ member: String) -> [ConfigMember] {
        guard let value = node[member] else { return [] }
        if let members = value.members { return members }
        error("has \(member) that must be an object, not \(value.kindName)", at: value.position)
        return []
    }

    private func variables() -> [ServerEntry.Member] {
        members("env").compactMap { member in
            let value: String
            switch member.value.kind {
            case .string(let text): value = text.value
            case .number(let number): value = JSONValue.number(number).serialized()
            default:
                error("has env whose \"\(member.key)\" must be a string", at: member.value.position)
                return nil
            }
            guard ServerEntry.isVariable(member.key, value) else {
                error("has env whose \"\(member.key)\" cannot be set", at: member.keyPosition)
                return nil
            }
            return ServerEntry.Member(name: member.key, value: value)
        }
    }

    private func fields() -> [ServerEntry.Member] {
        members("headers").compactMap { member in
            guard let value = member.value.string else {
                error("has headers whose \"\(member.key)\" must be a string", at: member.value.position)
                return nil
            }
            guard ServerEntry.isField(member.key, value) else {
                error("has headers whose \"\(member.key)\" cannot be sent", at: member.keyPosition)
                return nil
            }
            return ServerEntry.Member(name: member.key, value: value)
        }
    }
}
