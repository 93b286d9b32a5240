/// The limits of one harness.
public struct HarnessLimits: Sendable, Hashable {
    /// The maximum number of rounds of tool calls for one message: 6. A model that requests more ends the
    /// turn with `toolLoopLimitExceeded`.
    public var maxRounds = 6
    /// The maximum number of calls in one round: 32. Further calls are not made, and the model is told.
    public var maxCallsPerRound = 32
    /// The maximum number of concurrent calls: 8.
    public var maxConcurrentCalls = 8
    /// The maximum size of one result given to the model: 100,000 bytes. The rest is cut off, and the model
    /// is told.
    public var maxResultBytes = 100_000
    /// The maximum size of all instructions of sources and tools that a model is told: 32 KiB. Further lines
    /// are left out, with a warning.
    public var maxInstructionBytes = 32 << 10
    /// The maximum size of one answer of the model, text and calls: 16 MiB.
    ///
    /// The same amount is allowed again for the pieces that show a call while it is being written. Each piece
    /// counts as at least 16 bytes. A larger answer ends the turn, as do more than 1,024 calls in one answer.
    public var maxResponseBytes = 16 << 20
    /// The maximum duration of one answer of the model, from the request to its end: 15 min. After that, the
    /// turn ends with `HarnessError.model`.
    public var answerTimeout: Duration? = .seconds(900)
    /// The maximum duration of a tool call: 60 s. After that, the call is cancelled and counts as failed.
    public var toolTimeout: Duration? = .seconds(60)
    /// The maximum time to wait for an approval: no limit. After that, the call is denied.
    public var approvalTimeout: Duration?

    /// Creates an instance with the default values.
    public init() {}
}
