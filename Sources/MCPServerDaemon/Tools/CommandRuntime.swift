import MCPCore

/// What the commands of all tools share for the life of the process, across reloads of the configuration.
struct CommandRuntime: Sendable {
    /// The supervisor that ends what still runs when the process ends.
    var supervisor: ProcessSupervisor?
    /// The outputs that are too large for a result.
    var outputs = OutputStore()
    /// The time without a report of progress after which one is made.
    var heartbeat = CommandProgress.heartbeat
}
