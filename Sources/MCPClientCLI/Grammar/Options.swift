import MCPCore

/// What the flags say.
struct Options: Sendable {
    enum ColorChoice: String, Sendable, CaseIterable { case auto, always, never }

    var json = false
    var raw = false
    var structured = false
    var select: SelectPath?
    var outputFile: String?
    var quiet = false
    /// 0 silent, 1 a line per message, 2 the whole wire.
    var verbosity = 0
    var timings = false
    var color = ColorChoice.auto
    var headers: [HeaderLine] = []
    var bearerEnv: String?
    var bearerFile: String?
    /// Trusted for https, instead of what the system trusts.
    var trustFile: String?
    var environment: [EnvironmentEntry] = []
    var directory: String?
    /// Nil negotiates.
    var protocolVersion: String?
    var timeout = Duration.seconds(60)
    var deadline: Duration?
    var connectTimeout = Duration.seconds(10)
    var noValidate = false
    /// Answers to questions of the server, by field, and a file of them.
    var answers: [EnvironmentEntry] = []
    var answersFile: String?
    var noInput = false
    var logLevel: LoggingLevel?
    /// What `watch` runs at each event, and after how many it ends.
    var exec: EventProgram?
    var eventCount: Int?
    /// Calls that `bench` makes, and how many of them at the same time.
    var benchCount = 1000
    var benchConcurrency = 1
    /// What `provide` offers, where, and as whom.
    var channel = "default"
    var clientID: String?
    var tokenFile: String?
    var isOnce = false
    var demoTools: [DemoTool] = []
    var agent = AgentOptions()
    var host = HostOptions()
    var help = false
    var version = false
    /// Flags in the order they came, to check them against the command.
    var given: [Flag] = []

    struct HeaderLine: Sendable, Hashable {
        let name: String
        let value: String
    }

    struct EnvironmentEntry: Sendable, Hashable {
        let name: String
        let value: String
    }

    mutating func apply(_ flag: Flag, _ value: String) throws(Failure) {
        given.append(flag)
        switch flag {
        case .json: json = true
        case .raw: raw = true
        case .structured: structured = true
        case .select: select = try SelectPath(parsing: value)
        case .output: outputFile = try nonEmpty(value, flag)
        case .quiet: quiet = true
        case .verbose: verbosity += 1
        case .wire: verbosity = 2
        case .timings: timings = true
        case .color: color = try Self.colorChoice(value)
        case .header: headers.append(try Self.header(value))
        case .bearerEnv: bearerEnv = try nonEmpty(value, flag)
        case .bearerFile: bearerFile = try nonEmpty(value, flag)
        case .trustFile: trustFile = try nonEmpty(value, flag)
        case .environment: environment.append(try Self.environmentEntry(value))
        case .directory: directory = try nonEmpty(value, flag)
        case .protocolVersion: protocolVersion = try Self.revision(value)
        case .timeout: timeout = try Self.time(value, flag)
        case .deadline: deadline = try Self.time(value, flag)
        case .connectTimeout: connectTimeout = try Self.time(value, flag)
        case .noValidate: noValidate = true
        case .answer: answers.append(try Self.answer(value))
        case .answers: answersFile = try nonEmpty(value, flag)
        case .noInput: noInput = true
        case .logLevel: logLevel = try Self.level(value)
        case .exec: exec = try EventProgram(parsing: value)
        case .eventCount: eventCount = try Self.number(value, flag, 1 ... 1_000_000)
        case .benchCount: benchCount = try Self.number(value, flag, 1 ... 10_000_000)
        case .benchConcurrency: benchConcurrency = try Self.number(value, flag, 1 ... 1024)
        case .channel: channel = try nonEmpty(value, flag)
        case .clientID: clientID = try nonEmpty(value, flag)
        case .tokenFile: tokenFile = try nonEmpty(value, flag)
        case .once: isOnce = true
        case .demoTool: demoTools.append(try DemoTool(parsing: value))
        case .server, .model, .modelCommand, .modelKey, .policy, .trust, .rounds, .events:
            try agent.apply(flag, nonEmpty(value, flag))
        case .port, .sandboxPort, .opens, .staysClosed, .csp, .allowDomains, .blockDomains, .allowHosts,
            .approve, .grant, .theme, .history, .scan, .config:
            try host.apply(flag, flag.grammar.value == nil ? "" : nonEmpty(value, flag))
        case .help: help = true
        case .version: version = true
        }
    }

    private func nonEmpty(_ value: String, _ flag: Flag) throws(Failure) -> String {
        if value.isEmpty { throw .usage("\(flag.name) needs a value") }
        return value
    }

    static func number(
        _ value: String, _ flag: Flag, _ range: ClosedRange<Int>
    ) throws(Failure) -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw .usage(
                "\(flag.name) \(quoted(value)) is no number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    private static func time(_ value: String, _ flag: Flag) throws(Failure) -> Duration {
        guard let duration = TimeSpan.parse(value) else {
            throw .usage(
                "\(flag.name) \(quoted(value)) is not a time", hint: "for example 500ms, 10s, 2m or 1h")
        }
        return duration
    }

    private static func header(_ value: String) throws(Failure) -> HeaderLine {
        guard let colon = value.firstIndex(of: ":"), colon > value.startIndex else {
            throw .usage("-H \(quoted(value)) has no name and colon", hint: "-H 'X-Name: value'")
        }
        let name = value[..<colon]
        // RFC 9110 5.6.2 token; RFC 9110 5.5: no control characters in a value.
        let isToken = name.utf8.allSatisfy { byte in
            byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        let text = value[value.index(after: colon)...].trimmingSpaces()
        guard isToken, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .usage(
                "-H \(quoted(String(name))) is not a valid header",
                hint: "a name is letters, digits and -; a value has no control characters")
        }
        return HeaderLine(name: String(name), value: text)
    }

    private static func answer(_ value: String) throws(Failure) -> EnvironmentEntry {
        guard let sign = value.firstIndex(of: "="), sign > value.startIndex else {
            throw .usage("--answer \(quoted(value)) has no field and =", hint: "--answer FIELD=value")
        }
        return EnvironmentEntry(
            name: String(value[..<sign]), value: String(value[value.index(after: sign)...]))
    }

    private static func level(_ value: String) throws(Failure) -> LoggingLevel {
        guard let level = LoggingLevel(rawValue: value) else {
            let names = LoggingLevel.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("--log-level \(quoted(value)) is no level", hint: names)
        }
        return level
    }

    private static func environmentEntry(_ value: String) throws(Failure) -> EnvironmentEntry {
        guard let sign = value.firstIndex(of: "="), sign > value.startIndex else {
            throw .usage("-e \(quoted(value)) has no name and =", hint: "-e NAME=value")
        }
        return EnvironmentEntry(
            name: String(value[..<sign]), value: String(value[value.index(after: sign)...]))
    }

    private static func colorChoice(_ value: String) throws(Failure) -> ColorChoice {
        guard let choice = ColorChoice(rawValue: value) else {
            throw .usage("--color is auto, always or never, not \(quoted(value))")
        }
        return choice
    }

    /// The revisions this version speaks, newest first.
    static var revisions: [String] { ProtocolVersion.known.map(\.text) }

    private static func revision(_ value: String) throws(Failure) -> String? {
        if value == "auto" { return nil }
        guard revisions.contains(value) else {
            throw .usage(
                "--protocol \(quoted(value)) is not a revision of MCP",
                hint: "auto, \(revisions.joined(separator: ", "))")
        }
        return value
    }
}
