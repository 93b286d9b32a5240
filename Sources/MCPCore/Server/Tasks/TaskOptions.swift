/// The options of the tasks extension (`io.modelcontextprotocol/tasks`); set them in `ServerOptions.tasks` to
/// turn the extension on.
public struct TaskOptions: Sendable, Hashable {
    /// The maximum number of tasks that are kept, including finished ones: 1,000. For another one, finished
    /// tasks make room: the oldest of the same caller, then that of the caller with the most. Without any it
    /// is refused with an overload error (code 503).
    ///
    /// One authenticated principal has at most half of them, and of `maxTotalBytes`.
    public var maxTasks = 1000
    /// The time for which a task is kept after its creation: 1 h. Then it is forgotten, and cancelled if it
    /// is still working.
    public var ttl: Duration = .seconds(3600)
    /// The maximum `ttl` that a handler may request: 24 h. A longer one is reduced to this value.
    public var maxTTL: Duration = .seconds(24 * 3600)
    /// The interval at which clients are told to poll: 1 s.
    public var pollInterval: Duration = .seconds(1)
    /// The time that a handler may work on a task: 1 h, counted from the task's creation. Then the handler is
    /// cancelled and the task fails (code 504).
    public var deadline: Duration = .seconds(3600)
    /// The maximum size of the result of one task: 1 MiB, at least 64 KiB and at most 4 MiB. A task with a
    /// larger one fails.
    public var maxResultBytes = 1024 * 1024
    /// The maximum size of the results of all tasks together: 64 MiB. For another one, finished tasks make
    /// room as for `maxTasks`; a task whose result does not fit then fails.
    public var maxTotalBytes = 64 * 1024 * 1024

    /// Creates the default options.
    public init() {}

    /// The extension's identifier.
    static let identifier = "io.modelcontextprotocol/tasks"

    var resultLimit: Int { min(max(maxResultBytes, Self.leastResultBytes), Self.mostResultBytes) }

    /// Returns the part of a limit that one caller may take.
    ///
    /// - Parameter principal: empty without authorization, when all callers are one.
    static func share(of limit: Int, for principal: String) -> Int {
        principal.isEmpty ? limit : max(1, limit / 2)
    }

    static let leastResultBytes = 64 * 1024
    static let mostResultBytes = 4 * 1024 * 1024
}

/// Whether calls of a tool become tasks, for clients that declare the tasks extension (2026-07-28).
public enum TaskSupport: Sendable, Hashable {
    /// Never: `becomeTask` has no effect.
    case never
    /// For clients that have the extension; other calls are answered when the handler returns.
    case optional
    /// Required: clients of 2026-07-28 without the extension are refused (-32021). The handshake revisions
    /// have no such extension, so in them the call is answered when the handler returns.
    case required
}
