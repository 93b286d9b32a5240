/// Which requests a client may send a second time on its own, although the first may have been carried out.
///
/// Nothing is sent twice that may have an effect twice: of a request that reached a server, or a part of it,
/// only these are repeated. Anything else fails, and the error says that it may have run.
enum Repetition {
    /// Methods that ask and change nothing, and those whose second time has no further effect.
    private static let harmlessMethods: Set<String> = [
        "initialize", "server/discover", "ping",
        "tools/list", "prompts/list", "prompts/get", "resources/list", "resources/templates/list",
        "resources/read", "completion/complete",
        "resources/subscribe", "resources/unsubscribe", "subscriptions/listen", "logging/setLevel",
        // Keys that are answered already are ignored (TASK-16), and so is the end of what has ended.
        "tasks/get", "tasks/update", "tasks/cancel",
        "notifications/initialized", "notifications/cancelled", "notifications/roots/list_changed",
        // An answer to a request of the server: a second one to the same id belongs to nothing.
        "",
    ]

    /// Whether the method alone says so; what a tool does, only the tool says.
    static func isHarmless(_ method: String) -> Bool { harmlessMethods.contains(method) }

    /// Whether a refusal shows that the request was not carried out: it was not understood, or not taken.
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
    /// Whether sending the request a second time does no harm: its method, or what the server's list said of
    /// the tool.
    func mayRepeat(_ method: String, _ params: JSONObject) -> Bool {
        if Repetition.isHarmless(method) { return true }
        guard method == "tools/call", let name = params["name"]?.stringValue else { return false }
        return tools.isRepeatable(name)
    }
}

extension ClientError {
    /// The failure of a request that was sent, or a part of it, and that is not sent again.
    func mayHaveRun(_ what: String) -> ClientError {
        var error = self
        error.details.append("\(what) may have run; it was not sent again")
        error.hint = hint ?? "find out whether it was done before you ask for it again"
        return error
    }
}
