/// A call in progress at clients. Part of the hub's state.
struct ClientToolCall {
    /// The messages to the waiting caller.
    enum Step: Sendable {
        /// There is no result yet, and the call may take much longer.
        case takesLong
        /// The result, which is the last step.
        case result(CallToolResult)
    }

    /// The delivery of the call to one client.
    struct Leg {
        /// The registration that the call was delivered to.
        let serial: Int
        var work: Task<Void, Never>?
        /// The time until which a client that is gone may reconnect.
        var waitsUntil: MonotonicInstant?
    }

    let id: String
    let channel: String
    /// The tool name that the agent called.
    let name: String
    let definition: ClientToolDefinition
    let arguments: RawJSON
    let messageID: String
    let timeout: Duration
    let deadline: MonotonicInstant
    /// Reports progress to the agent; nil when it wants no reports.
    let report: (@Sendable (ProgressReport) -> Void)?
    let start: MonotonicInstant
    var nextReport = MonotonicInstant.never
    var reports = 0
    /// The deliveries, by client.
    var legs: [String: Leg] = [:]
    /// The reason why the last leg ended.
    var failure = ""
    /// The time at which the waiting caller is notified that the call takes long.
    var longAt = MonotonicInstant.never
    let steps: AsyncStream<Step>.Continuation

    /// The metadata that each client receives with the call.
    var meta: JSONObject {
        [
            VendorKey.messageID: .string(messageID), VendorKey.channelID: .string(channel),
            VendorKey.invocationID: .string(id),
        ]
    }

    /// The next time at which something is due.
    var nextMoment: MonotonicInstant {
        legs.values.compactMap(\.waitsUntil).reduce(min(deadline, nextReport, longAt)) { min($0, $1) }
    }
}
