public import MCPCore

/// A request whose progress a view follows: the token that it gave, and the last value that it was sent.
struct FollowedRequest: Sendable {
    let token: JSONValue
    var last: Double?
}

/// The progress of the view's own requests (MCP "Progress").
///
/// A view that waits for a response gives up after a time of its own, 60 s with the SDK of MCP Apps, unless
/// it hears of progress: a tool may run longer than that, and so may a person who thinks about a question.
extension AppBridgeMachine {
    /// Notes that the view follows a request, if it named a token.
    mutating func follow(_ id: ViewRequestID, _ params: JSONValue?) -> [Effect] {
        guard let token = params?["_meta"]?["progressToken"].flatMap(ViewMessage.id) else { return [] }
        let isFirst = followed.isEmpty
        followed[id] = FollowedRequest(token: token)
        return isFirst ? [.setTimer(id: TimerID.heartbeat.rawValue, after: limits.heartbeat)] : []
    }

    /// Notifies the view about the progress of one of its requests. Ignored if it did not ask for that, or
    /// has its response.
    public mutating func progress(_ id: ViewRequestID, _ progress: ProgressReport) -> [Effect] {
        guard let request = followed[id], state == .ready || state == .tearingDown else { return [] }
        // Each value must be greater than the one before; a server need not care.
        var value = progress.progress
        if let last = request.last, value <= last { value = last + Self.progressStep }
        guard value.isFinite, value > request.last ?? -.infinity else { return [] }
        followed[id]?.last = value
        var params: JSONObject = ["progressToken": request.token, "progress": JSONValue(value)]
        if let total = progress.total, total.isFinite { params["total"] = JSONValue(total) }
        if let message = progress.message {
            params["message"] = .string(String(message.prefix(ViewMessage.maxErrorText)))
        }
        return [Self.notification("notifications/progress", params)]
    }

    /// The amount by which progress grows that has no value of its own.
    private static let progressStep = 0.001

    /// Shows the view that its requests are still in progress.
    mutating func beat() -> [Effect] {
        guard !followed.isEmpty, state != .closed else { return [] }
        let ids = followed.keys.sorted { $0.number < $1.number }
        return ids.flatMap { progress($0, ProgressReport(followed[$0]?.last ?? 0)) }
            + [.setTimer(id: TimerID.heartbeat.rawValue, after: limits.heartbeat)]
    }
}
