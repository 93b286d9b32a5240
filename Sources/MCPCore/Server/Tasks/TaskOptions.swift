/// How the tasks extension behaves (`io.modelcontextprotocol/tasks`); set it in `ServerOptions.tasks` to turn
/// the extension on.
public struct TaskOptions: Sendable, Hashable {
    /// Tasks that are kept, finished ones included: 1,000. One more is refused with an overload error (code
    /// 503).
    public var maxTasks = 1000
    /// How long a task is kept from its creation on: 1 h. Then it is forgotten, and cancelled if it still
    /// works.
    public var ttl: Duration = .seconds(3600)
    /// The longest `ttl` that a handler may ask for: 24 h. A longer one is cut to it.
    public var maxTTL: Duration = .seconds(24 * 3600)
    /// How often clients are told to ask for news: 1 s.
    public var pollInterval: Duration = .seconds(1)
    /// How long a handler may work on a task: 1 h, counted from the task's creation. Then it is cancelled and
    /// the task fails (code 504).
    public var deadline: Duration = .seconds(3600)
    /// The result of one task: 1 MiB, at least 64 KiB and at most 4 MiB. A task with a larger one fails.
    public var maxResultBytes = 1024 * 1024
    /// The results of all tasks together: 64 MiB. A task whose result finds no room fails.
    public var maxTotalBytes = 64 * 1024 * 1024

    /// The defaults.
    public init() {}

    /// The extension's identifier.
    static let identifier = "io.modelcontextprotocol/tasks"

    var resultLimit: Int { min(max(maxResultBytes, Self.leastResultBytes), Self.mostResultBytes) }

    static let leastResultBytes = 64 * 1024
    static let mostResultBytes = 4 * 1024 * 1024
}

/// Whether calls of a tool become tasks, for clients that declare the tasks extension (2026-07-28).
public enum TaskSupport: Sendable, Hashable {
    /// Never: `becomeTask` changes nothing.
    case never
    /// Where the client has the extension; other calls are answered when the handler returns.
    case optional
    /// Clients of 2026-07-28 without the extension are refused (-32021). The handshake revisions have no
    /// such extension: there the call is answered when the handler returns.
    case required
}
