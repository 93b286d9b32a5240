import MCPCore

/// A command line that was parsed successfully.
struct Invocation: Sendable {
    var command: Command
    var options: Options
    /// The server to connect to; nil only for commands that need no single server.
    var target: Target?
    /// The name of a configured server, until it has become `target`.
    var serverName: String?
    /// The names of configured servers of a command that connects to several.
    var serverNames: [ConfiguredName] = []
    /// The name of a configured server, once it has become `target`.
    var configuredName: String?
    /// TARGET as it was typed, for messages; nil when the server is the program after `--`.
    var targetText: String?
    /// The servers of a command that connects to several, with their names.
    var servers: [NamedTarget] = []
    /// The configured servers among them.
    var configured: [ResolvedServer] = []
    var operands: [String] = []
    /// The program after `--`, for commands that use one.
    var program: [String]?
    /// The words after the tool name.
    var arguments: [String] = []

    func operand(_ index: Int) -> String? { operands.indices.contains(index) ? operands[index] : nil }

    /// Returns the command line of a login, with scopes to ask for if there are any.
    func loginLine(_ scopes: [String] = []) -> String {
        var flags = scopes.isEmpty ? [] : ["--scope", ShellWord.quote(scopes.joined(separator: " "))]
        // Without its id, another client would be registered.
        if options.given.contains(.auth(.clientID)), let client = options.auth.clientID {
            flags += ["--client-id", ShellWord.quote(client)]
        }
        // Without it, the server is not reached.
        if let file = options.trustFile {
            flags += [Flag.transport(.trustFile).name, ShellWord.quote(file)]
        }
        let server = targetText ?? operand(command.name == "auth" ? 1 : 0) ?? "TARGET"
        return (["mcp-client", "login"] + flags + [ShellWord.quote(MaskedText.words([server]).joined())])
            .joined(separator: " ")
    }

    /// Returns a command line with the same target before or after the given words, for hints and usage
    /// lines: as it is typed in the shell, if that runs the command. Secrets in it are masked.
    func line(_ command: String, _ words: [String]) -> String {
        if self.command.isInShell { return ([command] + words).joined(separator: " ") }
        var line = ["mcp-client", command]
        // The only server may have a name that stands for something else.
        let name = configuredName.flatMap { Target.canBeName($0) ? $0 : nil }
        if let server = name ?? targetText ?? target?.text {
            line += MaskedText.words([server]).map(ShellWord.quote)
        }
        line.insert(contentsOf: connectionFlags, at: 1)
        line += words
        if configuredName == nil, targetText == nil, case .program(let program) = target {
            line += ["--"] + MaskedText.words(program).map(ShellWord.quote)
        }
        return line.joined(separator: " ")
    }

    /// The flags that were given for the connection, without which another line would not reach the server.
    private var connectionFlags: [String] {
        var words: [String] = []
        for case .transport(let flag) in options.given {
            let name = Flag.transport(flag).name
            switch flag {
            case .protocolVersion: words += options.protocolVersion.map { [name, $0] } ?? []
            case .bearerEnv: words += options.bearerEnv.map { [name, ShellWord.quote($0)] } ?? []
            case .bearerFile: words += options.bearerFile.map { [name, ShellWord.quote($0)] } ?? []
            case .trustFile: words += options.trustFile.map { [name, ShellWord.quote($0)] } ?? []
            case .directory: words += options.directory.map { [name, ShellWord.quote($0)] } ?? []
            case .header, .environment, .timeout, .deadline, .connectTimeout, .noCache: break
            }
        }
        // Their values may be secret.
        if options.given.contains(.transport(.header)) { words += ["-H", "…"] }
        if options.given.contains(.transport(.environment)) { words += ["-e", "…"] }
        return words
    }

    /// The first flag of the connection that stands after the tool, where it has no effect.
    var misplacedFlag: String? {
        for word in arguments where word.hasPrefix("--") {
            let name = String(word.prefix { $0 != "=" })
            switch Flag.named(name) {
            case .transport?, .auth?: return name
            default: continue
            }
        }
        return nil
    }

    /// Returns a text without the secrets in the URL of the server, and in others.
    func masking(_ text: String) -> String {
        guard case .http(let url) = target else { return MaskedText.urls(in: text) }
        let masked = MaskedText.url(url)
        return MaskedText.urls(in: masked == url ? text : text.replacing(url, with: masked))
    }
}
