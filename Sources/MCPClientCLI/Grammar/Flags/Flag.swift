/// The flags of this program, grouped by subject.
///
/// They come before the tool name; only the tool's arguments follow it.
///
/// Each group is one file with its flags, a row for each flag, and the effect of each on the options. The
/// flags of `agent` and `host` change options of their own, in `AgentOptions` and `HostOptions`.
enum Flag: Sendable, Hashable {
    case output(OutputFlag)
    case transport(TransportFlag)
    case arguments(ArgumentFlag)
    case interaction(InteractionFlag)
    case bench(BenchFlag)
    case provide(ProvideFlag)
    case agent(AgentFlag)
    case host(HostFlag)
    case auth(AuthFlag)
    case check(CheckFlag)
    case list(ListFlag)
    case other(OtherFlag)
}

/// The spelling of a flag and its help text.
struct FlagRow: Sendable {
    /// All spellings; the first one is shown in messages.
    let names: [String]
    /// The placeholder for the value in help texts; nil for a flag without a value.
    let value: String?
    /// What the value stands for.
    let kind: WordKind
    /// How the value names a file that the command reads; nil if it names none.
    let reads: FileReading?
    let summary: String

    /// - Parameter kind: what the value stands for; by default what its placeholder describes.
    init(
        _ names: String..., value: String? = nil, kind: WordKind? = nil, reads: FileReading? = nil,
        summary: String
    ) {
        self.names = names
        self.value = value
        self.kind = kind ?? WordKind(placeholder: value ?? "TEXT")
        self.reads = reads
        self.summary = summary
    }

    /// All spellings and the placeholder for the value: `-o, --output FILE`.
    var synopsis: String { names.joined(separator: ", ") + (value.map { " " + $0 } ?? "") }
}

extension Flag: CaseIterable {
    static let allCases: [Flag] =
        OutputFlag.allCases.map(Flag.output) + TransportFlag.allCases.map(Flag.transport)
        + ArgumentFlag.allCases.map(Flag.arguments) + InteractionFlag.allCases.map(Flag.interaction)
        + BenchFlag.allCases.map(Flag.bench) + ProvideFlag.allCases.map(Flag.provide)
        + AgentFlag.allCases.map(Flag.agent) + HostFlag.allCases.map(Flag.host)
        + AuthFlag.allCases.map(Flag.auth) + CheckFlag.allCases.map(Flag.check)
        + ListFlag.allCases.map(Flag.list) + OtherFlag.allCases.map(Flag.other)

    /// The headings under which help texts list flags.
    enum Heading: String, Sendable, CaseIterable {
        case output = "Output"
        case transport = "Transport"
        case arguments = "Argument"
        case interaction = "Interaction"
        case agent = "Agent"
        case host = "Host"
        case login = "Login"
        case check = "Check"
        case other = "Other"
    }

    var heading: Heading {
        switch self {
        case .output: .output
        case .transport: .transport
        case .arguments, .bench: .arguments
        case .interaction: .interaction
        case .agent: .agent
        case .host: .host
        case .auth: .login
        case .check: .check
        case .list: .output
        case .provide, .other: .other
        }
    }

    var row: FlagRow {
        switch self {
        case .output(let flag): flag.row
        case .transport(let flag): flag.row
        case .arguments(let flag): flag.row
        case .interaction(let flag): flag.row
        case .bench(let flag): flag.row
        case .provide(let flag): flag.row
        case .agent(let flag): flag.row
        case .host(let flag): flag.row
        case .auth(let flag): flag.row
        case .check(let flag): flag.row
        case .list(let flag): flag.row
        case .other(let flag): flag.row
        }
    }

    /// The name used in messages.
    var name: String { row.names.first ?? "" }

    static func named(_ text: String) -> Flag? { allCases.first { $0.row.names.contains(text) } }
}
