/// What one harness may use.
public struct HarnessLimits: Sendable, Hashable {
    /// Rounds of tool calls for one message: 6. A model that wants more ends with `toolLoopLimitExceeded`.
    public var maxRounds = 6
    /// Calls in one round: 32. Those beyond it are not made, and the model is told.
    public var maxCallsPerRound = 32
    /// Calls at the same time: 8.
    public var maxConcurrentCalls = 8
    /// How much of one result the model gets: 100,000 bytes. The rest is cut off, and the model is told.
    public var maxResultBytes = 100_000
    /// One answer of the model, text and calls, and as much again of the pieces that show a call while it is
    /// written: 16 MiB. Each piece counts as 16 bytes at least. More ends the turn, and so do more than 1,024
    /// calls in one answer.
    public var maxResponseBytes = 16 << 20
    /// How long a tool may take: 60 s. Then it is cancelled and has failed.
    public var toolTimeout: Duration? = .seconds(60)
    /// How long an approval may take: no limit. After it the call is denied.
    public var approvalTimeout: Duration?

    /// The defaults.
    public init() {}
}
