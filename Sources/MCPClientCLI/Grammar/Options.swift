import MCPCore

/// The values of the flags.
struct Options: Sendable {
    enum ColorChoice: String, Sendable, CaseIterable { case auto, always, never }

    var json = false
    var raw = false
    var structured = false
    var select: SelectPath?
    var outputFile: String?
    var quiet = false
    /// The verbosity: 0 is silent, 1 prints a line per message, 2 prints all traffic.
    var verbosity = 0
    var timings = false
    var color = ColorChoice.auto
    /// Whether images are shown in the terminal.
    var images = false
    /// What `tools` lists: names only, and only what contains these words.
    var onlyNames = false
    var search: [String] = []
    /// Whether a tool that may destroy something runs without a question at the terminal.
    var yes = false
    var headers: [HeaderLine] = []
    var bearerEnv: String?
    var bearerFile: String?
    /// The file of certificates trusted for https in place of those that the system trusts.
    var trustFile: String?
    var environment: [EnvironmentEntry] = []
    var directory: String?
    /// The protocol revision; nil negotiates one.
    var protocolVersion: String?
    var timeout = Duration.seconds(60)
    var deadline: Duration?
    /// The limit for connecting; nil for the one of the library.
    var connectTimeout: Duration?
    var noValidate = false
    /// Whether nothing is kept between runs, and nothing that was kept is used.
    var noCache = false
    /// Answers to the server's questions, by field, and a file of such answers.
    var answers: [EnvironmentEntry] = []
    var answersFile: String?
    var noInput = false
    var logLevel: LoggingLevel?
    /// The program that `watch` runs at each event, and the number of events after which it ends.
    var exec: EventProgram?
    var eventCount: Int?
    /// The number of calls that `bench` makes, and how many of them run at the same time.
    var benchCount = 1000
    var benchConcurrency = 1
    /// The tools that `provide` offers, the channel for them, and the identity of the client.
    var channel = "default"
    var clientID: String?
    var tokenFile: String?
    var isOnce = false
    var demoTools: [DemoTool] = []
    var agent = AgentOptions()
    var host = HostOptions()
    var auth = AuthOptions()
    var checks = CheckOptions()
    var help = false
    var version = false
    var manual = false
    /// The flags in the order given, to be checked against the command.
    var given: [Flag] = []
    /// The files that flags name to be read.
    var filesRead: [String] = []

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
        if let path = flag.row.reads?.path(in: text) { filesRead.append(path) }
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
        case .auth(let flag): try auth.apply(flag, value)
        case .check(let flag): try apply(flag, value)
        case .list(let flag): try apply(flag, value)
        case .other(let flag): apply(flag)
        }
    }
}
