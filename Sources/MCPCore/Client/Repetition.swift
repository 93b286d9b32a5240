/// The requests that a client may send again on its own although the first one may have been executed.
///
/// A request that may have an effect twice is never sent twice: if a request, or part of it, reached a
/// server, only these are repeated. Anything else fails, and the error states that it may have been executed.
enum Repetition {
    /// The methods that only read, and those that have no further effect the second time.
    private static let harmlessMethods: Set<String> = [
        "initialize", "server/discover", "ping",
        "tools/list", "prompts/list", "prompts/get", "resources/list", "resources/templates/list",
        "resources/read", "completion/complete",
        "resources/subscribe", "resources/unsubscribe", "subscriptions/listen", "logging/setLevel",
        // Keys that were already answered are ignored (TASK-16), and so is cancelling a task that has ended.
        "tasks/get", "tasks/update", "tasks/cancel",
        "notifications/initialized", "notifications/cancelled", "notifications/roots/list_changed",
        // A response to a request from the server: a second one to the same id matches nothing.
        "",
    ]

    /// Returns whether repeating the method is always harmless; the effects of a tool depend on the tool.
    static func isHarmless(_ method: String) -> Bool { harmlessMethods.contains(method) }

    /// Returns whether a refusal shows that the request was not executed: it was not understood, or not
    /// accepted.
    static func wasNotCarriedOut(_ reply: ClientCall.Reply) -> Bool {
        switch reply {
        case .result: false
        case .failed(let error): error.kind == .unsupportedVersion || error.kind == .httpStatus
        case .refused(let error, let status):
            status.map { [400, 404, 405].contains($0) } == true || refusalsBeforeWork.contains(error.code)
        }
    }

    private static let refusalsBeforeWork: Set<Int> = [
        MCPError.parseErrorCode, MCPError.invalidRequestCode, MCPError.methodNotFoundCode,
        MCPError.invalidParamsCode, MCPError.headerMismatchCode, MCPError.missingClientCapabilityCode,
        MCPError.unsupportedProtocolVersionCode,
    ]
}

extension ClientConnection {
    /// Returns whether sending the request again does no harm, based on its method or on what the server's
    /// list declares about the tool.
    func mayRepeat(_ method: String, _ params: JSONObject) -> Bool {
        guard method == "tools/call" else { return Repetition.isHarmless(method) }
        return params["name"]?.stringValue.map { tools.isRepeatable($0) } ?? false
    }
}

extension ClientError {
    /// Whether a request may have reached the server though its response did not come, or cannot be read: as
    /// well as a connection, a proxy may lose a response, and a server may fail in the middle of its work.
    /// One that is too busy (429, 503), or does not know such requests (501, 505, 511), has done nothing.
    var leavesTheOutcomeOpen: Bool {
        switch kind {
        case .connectionClosed, .protocolViolation: !isUnsent
        case .httpStatus: !isUnsent && httpStatus.map(Self.isFailure) == true
        default: false
        }
    }

    /// Any other number stands for 500 (RFC 9110, section 15).
    private static func isFailure(_ status: Int) -> Bool {
        (500 ... 599).contains(status) && ![501, 503, 505, 511].contains(status)
    }

    /// Returns the error of a request that was sent, at least in part, and that is not sent again.
    func mayHaveRun(_ what: String) -> ClientError {
        var error = self
        error.mayHaveBeenExecuted = true
        error.details.append("\(what) may have been executed; it was not sent again")
        error.hint = hint ?? "find out whether it was executed before you send it again"
        return error
    }

    /// Returns the error of a call whose first request was carried out: although a later one was not sent,
    /// the call as a whole was.
    func inLaterRound(of method: String) -> ClientError {
        var error = self
        error.isUnsent = false
        error.kind = .connectionClosed
        error.hint = nil
        return error.mayHaveRun(method)
    }
}
