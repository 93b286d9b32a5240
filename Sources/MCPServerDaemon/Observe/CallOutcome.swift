import MCPCore

/// The outcome of a request, in the words of logs and metrics.
enum CallOutcome: String, Sendable, Hashable, CaseIterable {
    case ok
    /// A result that reports that the tool failed.
    case toolError = "tool_error"
    /// A JSON-RPC error.
    case error
    case timeout
    /// The server had no room for it.
    case busy
    /// The caller may not do it.
    case denied
    /// The server stopped.
    case stopped
    /// The client withdrew it, or is gone.
    case cancelled

    init(_ end: RequestEnd) { self = end.isDenied ? .denied : CallOutcome(end.outcome) }

    init(_ outcome: RequestOutcome) {
        self =
            switch outcome {
            case .result: .ok
            case .toolError: .toolError
            case .cancelled: .cancelled
            case .error(MCPError.deadlineExceededCode): .timeout
            case .error(MCPError.overloadedCode): .busy
            case .error(MCPError.insufficientScopeCode), .error(401), .error(429): .denied
            case .error(MCPError.interruptedCode): .stopped
            case .error: .error
            }
    }

    /// The number of the case, for tables.
    var index: Int {
        switch self {
        case .ok: 0
        case .toolError: 1
        case .error: 2
        case .timeout: 3
        case .busy: 4
        case .denied: 5
        case .stopped: 6
        case .cancelled: 7
        }
    }

    /// Whether an operator may want to know about it.
    var isFailure: Bool { self != .ok && self != .cancelled }
}
