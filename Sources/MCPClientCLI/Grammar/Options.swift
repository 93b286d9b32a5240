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

    mutating func apply(_ flag: Flag, _ text: String) throws(Failure) {
        given.append(flag)
        let value = FlagValue(flag: flag, text: text)
        switch flag {
        case .output(let flag): try apply(flag, value)
        case .transport(let flag): try apply(flag, value)
        case .arguments(let flag): apply(flag)
        case .interaction(let flag): try apply(flag, value)
        case .bench(let flag): try apply(flag, value)
        case .provide(let flag): try apply(flag, value)
        case .agent(let flag): try agent.apply(flag, value)
        case .host(let flag): try host.apply(flag, value)
        case .other(let flag): apply(flag)
        }
    }
}
