/// The status of a task (`io.modelcontextprotocol/tasks`).
public struct TaskStatus: RawRepresentable, Sendable, Hashable {
    /// The status as sent on the wire.
    public let rawValue: String
    /// Creates a status from its raw value.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The task is running.
    public static let working = TaskStatus(rawValue: "working")
    /// The task is waiting for answers.
    public static let inputRequired = TaskStatus(rawValue: "input_required")
    /// The task has a result.
    public static let completed = TaskStatus(rawValue: "completed")
    /// The task ended with an error.
    public static let failed = TaskStatus(rawValue: "failed")
    /// The task was cancelled.
    public static let cancelled = TaskStatus(rawValue: "cancelled")

    /// Whether the status is final and never changes again (TASK-11).
    public var isTerminal: Bool { [.completed, .failed, .cancelled].contains(self) }
}

/// A task as returned by `tasks/get` (`io.modelcontextprotocol/tasks`).
public struct TaskInfo: WireType {
    /// The identifier of the task; unguessable (TASK-23).
    public var taskID: String
    /// The status of the task.
    public var status: TaskStatus
    /// A description of the status.
    public var statusMessage: String?
    /// The time of creation, in ISO 8601 format.
    public var createdAt: String
    /// The time of the last change, in ISO 8601 format.
    public var lastUpdatedAt: String
    /// The time for which the task is kept after its creation; nil means forever.
    public var ttl: Duration?
    /// The suggested interval between polls.
    public var pollInterval: Duration?
    /// The requests for input that the task is waiting for, by key, as sent on the wire: `{method, params}`.
    public var inputRequests: JSONObject?
    /// The result of a completed task.
    public var result: JSONValue?
    /// The error of a failed task.
    public var error: MCPError?

    /// Creates a description of a task.
    public init(
        _ taskID: String, _ status: TaskStatus, createdAt: String, lastUpdatedAt: String,
        ttl: Duration? = nil, pollInterval: Duration? = nil, statusMessage: String? = nil
    ) {
        self.taskID = taskID
        self.status = status
        self.createdAt = createdAt
        self.lastUpdatedAt = lastUpdatedAt
        self.ttl = ttl
        self.pollInterval = pollInterval
        self.statusMessage = statusMessage
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "Task")
        taskID = try members.string("taskId")
        status = TaskStatus(rawValue: try members.string("status"))
        statusMessage = try members.optionalString("statusMessage")
        createdAt = try members.string("createdAt")
        lastUpdatedAt = try members.string("lastUpdatedAt")
        ttl = try members.optionalInt("ttlMs").map { .milliseconds($0) }
        pollInterval = try members.optionalInt("pollIntervalMs").map { .milliseconds($0) }
        inputRequests = try members.optionalObject("inputRequests")
        result = members.object["result"]
        if let error = try members.optionalObject("error") {
            self.error = MCPError(
                code: error["code"].map { $0.intValue ?? MCPError.internalErrorCode } ?? 0,
                message: error["message"]?.stringValue ?? "",
                data: error["data"])
        }
    }

    /// The members of the value; `ttlMs` is null for a task that is kept forever (TASK-06).
    public var json: JSONValue {
        var object: JSONObject = ["taskId": .string(taskID), "status": .string(status.rawValue)]
        if let statusMessage { object["statusMessage"] = .string(statusMessage) }
        object["createdAt"] = .string(createdAt)
        object["lastUpdatedAt"] = .string(lastUpdatedAt)
        object["ttlMs"] = ttl.map { JSONValue($0.onTheWire) } ?? .null
        if let pollInterval { object["pollIntervalMs"] = JSONValue(pollInterval.onTheWire) }
        if let inputRequests { object["inputRequests"] = .object(inputRequests) }
        if let result { object["result"] = result }
        if let error {
            var members: JSONObject = ["code": JSONValue(error.code), "message": .string(error.message)]
            if let data = error.data { members["data"] = data }
            object["error"] = .object(members)
        }
        return .object(object)
    }
}

extension Duration {
    /// The duration in milliseconds, saturating; values read from the wire do not exceed this range.
    fileprivate var onTheWire: Int {
        let (milliseconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return components.seconds > 0 ? .max : .min }
        // Small: less than 1,000.
        let rest = Int(components.attoseconds / 1_000_000_000_000_000)
        let (sum, carry) = Int(clamping: milliseconds).addingReportingOverflow(rest)
        return carry ? (rest > 0 ? .max : .min) : sum
    }
}
