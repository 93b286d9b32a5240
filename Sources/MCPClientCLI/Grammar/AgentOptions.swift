import MCPCore

/// The values of the `agent` flags.
struct AgentOptions: Sendable {
    enum Model: Sendable, Hashable {
        case chatCompletions(url: String, name: String)
        case program([String])
        /// A file that contains the model's answers.
        case script(String)
    }

    enum Policy: String, Sendable, CaseIterable { case ask, auto, deny }

    /// A policy of single tools, as a flag gave it.
    struct ToolPolicyFlag: Sendable {
        let flag: AgentFlag
        let word: String
        let policy: Policy

        /// Whether the word is the name of a tool, of any server: one with a slash may be that, too, which is
        /// no reason to allow anything.
        var isName: Bool { !word.contains("/") || policy != .auto }
        /// Whether the word is a server and a tool.
        var isQualified: Bool { word.contains("/") }

        /// Whether the word stands for a tool.
        func matches(_ tool: String, of server: String) -> Bool {
            let pattern = Glob(onlyStars: word)
            return isName && pattern.matches(tool) || isQualified && pattern.matches("\(server)/\(tool)")
        }
    }

    var servers: [NamedTarget] = []
    /// The configured servers among those of `--server`.
    var configured: [ConfiguredName] = []
    var model: Model?
    var keyVariable: String?
    var policy: Policy?
    var trusted: [String] = []
    var rounds: Int?
    var printsEvents = false
    /// The policies of single tools, in the order given.
    var toolPolicies: [ToolPolicyFlag] = []
    /// A text, or `@` and a file.
    var system: String?
    var parameters: JSONObject = [:]
    var continues = false
    var conversation: String?

    mutating func apply(_ flag: AgentFlag, _ value: FlagValue) throws(Failure) {
        if flag == .goOn { return continues = true }
        let text = try value.nonEmpty()
        switch flag {
        case .allow: toolPolicies.append(ToolPolicyFlag(flag: flag, word: text, policy: .auto))
        case .ask: toolPolicies.append(ToolPolicyFlag(flag: flag, word: text, policy: .ask))
        case .deny: toolPolicies.append(ToolPolicyFlag(flag: flag, word: text, policy: .deny))
        case .system: system = text
        case .parameter:
            let (name, value) = try Self.parameter(text)
            parameters[name] = value
        case .goOn: break
        case .conversation: conversation = text
        case .server: try addServer(text)
        case .model: model = try Self.model(text)
        case .modelCommand: model = .program(text.split(separator: " ").map(String.init))
        case .modelKey: keyVariable = text
        case .policy:
            guard let policy = Policy(rawValue: text) else {
                throw .usage("--policy \(quoted(text)) is not ask, auto or deny")
            }
            self.policy = policy
        case .trust: trusted.append(text)
        case .rounds: rounds = try value.number(in: 1 ... 1_000)
        case .events:
            guard text == "jsonl" else { throw .usage("--events \(quoted(text)) is not jsonl") }
            printsEvents = true
        }
    }

    /// The members of the request that this program sets itself.
    private static let ownParameters: Set<String> = [
        "model", "messages", "tools", "stream", "stream_options",
    ]

    private static func parameter(_ text: String) throws(Failure) -> (String, JSONValue) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw .usage("--param \(quoted(text)) is not NAME=JSON", hint: "--param temperature=0.2")
        }
        if ownParameters.contains(parts[0]) {
            throw .usage("--param \(parts[0]): this program sets it itself")
        }
        guard let json = try? JSONValue(parsing: parts[1]) else {
            throw .usage(
                "--param \(inlineText(parts[0])): \(quoted(parts[1])) is not JSON",
                hint: "a text is written in quotation marks: --param '\(inlineText(parts[0]))=\"…\"'")
        }
        return (parts[0], json)
    }

    private mutating func addServer(_ value: String) throws(Failure) {
        let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
        let isName =
            parts.first.map { name in
                (1 ... 32).contains(name.utf8.count)
                    && name.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x5F || $0 == 0x2D }
            } ?? false
        guard parts.count == 2, isName else {
            throw .usage(
                "--server \(quoted(value)) is not NAME=TARGET", hint: "--server docs=localhost:3000")
        }
        if Target.mayBeConfigured(parts[1]) {
            configured.append(ConfiguredName(word: parts[1], name: parts[0]))
        } else {
            servers.append(NamedTarget(name: parts[0], target: try Target(parsing: parts[1])))
        }
    }

    private static func model(_ value: String) throws(Failure) -> Model {
        let usage = Failure.usage(
            "--model \(quoted(value)) is neither openai:URL,NAME nor script:FILE",
            hint: "--model openai:http://localhost:11434/v1,qwen3")
        if value.hasPrefix("script:"), value.utf8.count > 7 { return .script(String(value.dropFirst(7))) }
        guard value.hasPrefix("openai:") else { throw usage }
        let rest = value.dropFirst("openai:".count)
        // A model's name may contain anything but a comma; a URL may contain commas.
        guard let comma = rest.lastIndex(of: ","), rest.contains("://"),
            comma < rest.index(before: rest.endIndex)
        else { throw usage }
        guard ["http://", "https://"].contains(where: { rest.lowercased().hasPrefix($0) }) else {
            throw usage
        }
        return .chatCompletions(
            url: String(rest[..<comma]), name: String(rest[rest.index(after: comma)...]))
    }
}
