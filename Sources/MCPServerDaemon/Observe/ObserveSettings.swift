import MCPCore

/// What the server writes down about its work.
struct ObserveSettings: Sendable, Hashable {
    var log = LogSettings()
    var audit: AuditSettings?
    var recorder: RecorderSettings?
}

/// The log.
struct LogSettings: Sendable, Hashable {
    /// The calls that are logged.
    enum Calls: String, Sendable, Hashable, CaseIterable {
        case none, failed, all
    }

    enum Format: String, Sendable, Hashable, CaseIterable {
        case auto, text, json, journal
    }

    var level: LogLevel?
    var format = Format.auto
    /// The file in place of standard error.
    var file: String?
    var calls = Calls.none
}

/// The audit log.
struct AuditSettings: Sendable, Hashable {
    var file: String
    var redaction = RedactionSettings()
    /// Whether each line carries the digest of the line before.
    var isChained = false
}

/// The flight recorder.
struct RecorderSettings: Sendable, Hashable {
    enum Trigger: String, Sendable, Hashable, CaseIterable {
        case error
        case signal = "SIGUSR1"
    }

    var directory: String
    var keep = 256
    var triggers: Set<Trigger> = [.error, .signal]
    var redaction = RedactionSettings()
}

/// What is left out of arguments.
struct RedactionSettings: Sendable, Hashable {
    /// The arguments that are written down.
    enum Arguments: String, Sendable, Hashable, CaseIterable {
        case none, redacted
    }

    var arguments = Arguments.redacted
    /// Further keys beside those of `SecretNames`, in any case of letters.
    var keys: [String] = []
}
