/// How far a task has come (`io.modelcontextprotocol/tasks`).
public struct TaskStatus: RawRepresentable, Sendable, Hashable {
    /// The status as on the wire.
    public let rawValue: String
    /// Names a status.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// It runs.
    public static let working = TaskStatus(rawValue: "working")
    /// It waits for answers.
    public static let inputRequired = TaskStatus(rawValue: "input_required")
    /// It has a result.
    public static let completed = TaskStatus(rawValue: "completed")
    /// It ended with an error.
    public static let failed = TaskStatus(rawValue: "failed")
    /// It was given up.
    public static let cancelled = TaskStatus(rawValue: "cancelled")

    /// Whether it never changes any more (TASK-11).
    public var isTerminal: Bool { [.completed, .failed, .cancelled].contains(self) }
}

/// A task as `tasks/get` shows it (`io.modelcontextprotocol/tasks`).
public struct TaskInfo: WireType {
    /// Names it; unguessable (TASK-23).
    public var taskID: String
    /// How far it has come.
    public var status: TaskStatus
    /// The same in words.
    public var statusMessage: String?
    /// When it was made, ISO 8601.
    public var createdAt: String
    /// When it last changed, ISO 8601.
    public var lastUpdatedAt: String
    /// How long it is kept after it was made; nil: for ever.
    public var ttl: Duration?
    /// How often to ask for it.
    public var pollInterval: Duration?
    /// What it waits for, by key, as on the wire: `{method, params}`.
    public var inputRequests: JSONObject?
    /// The result of a completed task.
    public var result: JSONValue?
    /// The error of a failed task.
    public var error: MCPError?

    /// Describes a task.
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

    /// The members of the value; `ttlMs` is null for a task that is kept for ever (TASK-06).
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
    /// In milliseconds, saturating; what the wire brings is no more.
    fileprivate var onTheWire: Int {
        let (milliseconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return components.seconds > 0 ? .max : .min }
        // Small: less than 1,000.
        let rest = Int(components.attoseconds / 1_000_000_000_000_000)
        let (sum, carry) = Int(clamping: milliseconds).addingReportingOverflow(rest)
        return carry ? (rest > 0 ? .max : .min) : sum
    }
}
