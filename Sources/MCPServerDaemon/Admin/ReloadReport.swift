import MCPCore

/// The outcome of reading the configuration again.
struct ReloadReport: Sendable, Hashable {
    var reason: String
    var time: WallTime
    var isDone: Bool
    /// What has changed, such as `+tool journal`.
    var changes = ""
    /// The keys that differ from the running values and are read only at the start.
    var needingRestart: [String] = []
    /// The findings, in the form `FILE:LINE:COLUMN: error: TEXT`.
    var findings: [String] = []

    var json: JSONValue {
        [
            "ok": .bool(isDone), "reason": .string(reason), "time": .string(time.description),
            "changes": .string(changes), "needsRestart": .array(needingRestart.map { .string($0) }),
            "findings": .array(findings.map { .string($0) }),
        ]
    }
}
