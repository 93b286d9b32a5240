/// A call on its way to clients. Part of the hub's state.
struct ClientToolCall {
    /// What whoever waits is told.
    enum Step: Sendable {
        /// There is no result yet, and it may take much longer.
        case takesLong
        /// The last one.
        case result(CallToolResult)
    }

    /// How a client gets it.
    struct Leg {
        /// The registration that it was given to.
        let serial: Int
        var work: Task<Void, Never>?
        /// The client is gone, and may come back until then.
        var waitsUntil: MonotonicInstant?
    }

    let id: String
    let channel: String
    /// The name that the agent called.
    let name: String
    let definition: ClientToolDefinition
    let arguments: RawJSON
    let messageID: String
    let timeout: Duration
    let deadline: MonotonicInstant
    /// Reports to the agent; nil when it wants none.
    let report: (@Sendable (Progress) -> Void)?
    let start: MonotonicInstant
    var nextReport = MonotonicInstant.never
    var reports = 0
    /// By client.
    var legs: [String: Leg] = [:]
    /// Why the last leg ended.
    var failure = ""
    /// When whoever waits is told that it takes long.
    var longAt = MonotonicInstant.never
    let steps: AsyncStream<Step>.Continuation

    /// What each client is told of the call.
    var meta: JSONObject {
        [
            VendorKey.messageID: .string(messageID), VendorKey.channelID: .string(channel),
            VendorKey.invocationID: .string(id),
        ]
    }

    /// The next moment at which something is due.
    var nextMoment: MonotonicInstant {
        legs.values.compactMap(\.waitsUntil).reduce(min(deadline, nextReport, longAt)) { min($0, $1) }
    }
}
