/// How the tasks extension behaves (`io.modelcontextprotocol/tasks`).
public struct TaskOptions: Sendable, Hashable {
    /// The defaults.
    public init() {}
}
