public import MCPCore

/// The actions of the host, and the timers.
extension AppBridgeMachine {
    enum TimerID: Int {
        case hello
        case teardown
        case toolsChanged
        case heartbeat
    }

    /// Answers a request of the view. A request that the view cancelled, or that is already answered, is
    /// ignored.
    public mutating func answer(_ id: ViewRequestID, _ result: Result<JSONValue, MCPError>) -> [Effect] {
        guard let viewID = viewRequests.removeValue(forKey: id) else { return [] }
        followed[id] = nil
        switch result {
        case .success(let value): return [Self.result(viewID, value)]
        case .failure(let error): return [Self.failure(viewID, error)]
        }
    }

    // MARK: The tool call of the view

    /// Sends the completed form of arguments that a model is still writing. Ignored once the input is
    /// complete.
    public mutating func toolInputPartial(_ arguments: JSONValue) -> [Effect] {
        guard input == nil, outcome == nil else { return [] }
        partialInput = arguments
        return isReady ? tellCall() : []
    }

    /// Sends the arguments. Only the first call has an effect.
    public mutating func toolInput(_ arguments: JSONValue) -> [Effect] {
        guard input == nil, outcome.map({ if case .result = $0 { true } else { false } }) ?? true else {
            return []
        }
        input = arguments
        partialInput = nil
        return isReady ? tellCall() : []
    }

    /// Sends the result, after the input. Only the first end of the tool call counts.
    public mutating func toolResult(_ result: CallToolResult) -> [Effect] {
        end(.result(result.json.objectValue ?? [:]))
    }

    /// Sends the result exactly as the server wrote it, after the input. Only the first end of the tool call
    /// counts.
    public mutating func toolResult(verbatim result: JSONObject) -> [Effect] { end(.result(result)) }

    /// Reports that the tool call was cancelled, refused, or failed without a result. Only the first end of
    /// the tool call counts.
    /// - Parameter reason: the reason, for the view and its user.
    public mutating func toolCancelled(reason: String?) -> [Effect] { end(.cancelled(reason: reason)) }

    private mutating func end(_ outcome: Outcome) -> [Effect] {
        guard self.outcome == nil else { return [] }
        self.outcome = outcome
        return isReady ? tellCall() : []
    }

    /// Sends the view what it does not know yet about its tool call, in order.
    mutating func tellCall() -> [Effect] {
        var effects: [Effect] = []
        if let input, !hasSentInput {
            hasSentInput = true
            effects.append(Self.notification("ui/notifications/tool-input", ["arguments": input]))
        } else if input == nil, outcome == nil, let partial = partialInput {
            partialInput = nil
            effects.append(Self.notification("ui/notifications/tool-input-partial", ["arguments": partial]))
        }
        guard !hasSentOutcome else { return effects }
        switch outcome {
        case .result(let result):
            guard hasSentInput else { break }
            hasSentOutcome = true
            effects.append(Self.notification("ui/notifications/tool-result", result))
        case .cancelled(let reason):
            hasSentOutcome = true
            let params: JSONObject = reason.map { ["reason": .string($0)] } ?? [:]
            effects.append(Self.notification("ui/notifications/tool-cancelled", params))
        case nil: break
        }
        return effects
    }

    // MARK: The host context

    /// Sets the context. The view is notified about the members that differ from those it knows.
    public mutating func contextChanged(_ context: HostContext) -> [Effect] {
        self.context = context
        return isReady ? tellContext() : []
    }

    mutating func tellContext() -> [Effect] {
        let changes = context.difference(from: toldContext)
        toldContext = context
        return changes.isEmpty ? [] : [Self.notification("ui/notifications/host-context-changed", changes)]
    }

    /// Reports that a list of the view's server changed. The view is notified if the capabilities offer the
    /// list.
    public mutating func serverListChanged(_ list: ServerList) -> [Effect] {
        let isOffered =
            switch list {
            case .tools: capabilities.serverTools
            case .resources: capabilities.serverResources
            case .prompts: capabilities.serverPrompts
            }
        guard isReady, isOffered else { return [] }
        return [Self.notification("notifications/\(list.rawValue)/list_changed")]
    }

    // MARK: Requests from the host

    /// Sends a request to the view as soon as it is ready. `Effect.answered` is returned exactly once, unless
    /// `giveUp` is called before: with the view's response, or with -32000 when the view goes away.
    public mutating func request(_ request: HostRequest) -> (id: HostRequestID, effects: [Effect]) {
        let id = HostRequestID(number: nextNumber())
        guard state != .closed, state != .tearingDown else {
            return (id, [.answered(id, .failure(Self.refusal("The view is closed.")))])
        }
        let message = Self.request(id, request.method, request.params)
        guard isReady else {
            waitingRequests.append((id, message))
            return (id, [])
        }
        hostRequests.insert(id)
        return (id, [.send(message)])
    }

    mutating func sendWaiting() -> [Effect] {
        let waiting = waitingRequests
        waitingRequests = []
        hostRequests.formUnion(waiting.map(\.id))
        return waiting.map { .send($0.message) }
    }

    /// Abandons a request of the host. The view is notified, and its response is ignored.
    public mutating func giveUp(_ id: HostRequestID) -> [Effect] {
        waitingRequests.removeAll { $0.id == id }
        guard hostRequests.remove(id) != nil, isReady else { return [] }
        return [Self.notification("notifications/cancelled", ["requestId": JSONValue(id.number)])]
    }

    // MARK: The end

    /// Removes the view: it is notified and has `AppBridgeLimits.teardownTimeout` to respond. Until then its
    /// requests are served, so that it can save its state. A view that was never ready is removed
    /// immediately.
    public mutating func teardown(reason: String?) -> [Effect] {
        switch state {
        case .tearingDown, .closed: return []
        case .created, .proxyReady, .loading, .initializing: return close("The view was closed.")
        case .ready: break
        }
        state = .tearingDown
        let id = HostRequestID(number: nextNumber())
        teardownRequest = id
        let params: JSONObject = reason.map { ["reason": .string($0)] } ?? [:]
        return [
            .send(Self.request(id, "ui/resource-teardown", params)),
            .setTimer(id: TimerID.teardown.rawValue, after: limits.teardownTimeout),
        ]
    }

    /// Reports that a timer of `Effect.setTimer` has fired. One that no longer applies is ignored.
    public mutating func timerFired(_ id: Int) -> [Effect] {
        switch TimerID(rawValue: id) {
        case .hello where state == .loading: return [.notify(.silent)]
        case .teardown where state == .tearingDown:
            return close("The view did not respond to its teardown in time.")
        case .heartbeat: return beat()
        case .toolsChanged where isToolsChangedPending:
            isToolsChangedPending = false
            toolsChangedAt = toolsChangedAt.map { $0.advanced(by: limits.toolsChangedPause) }
            return state == .closed ? [] : [.notify(.toolsChanged)]
        default: return []
        }
    }

    /// Reports that the frame is gone: everything that is open ends.
    public mutating func abandon() -> [Effect] {
        state == .closed ? [] : close("The view is gone.")
    }

    mutating func close(_ reason: String) -> [Effect] {
        state = .closed
        return letGo(reason) + [.close]
    }

    /// Ends everything that is open between host and view.
    mutating func letGo(_ reason: String) -> [Effect] {
        let cancelled = viewRequests.keys.sorted { $0.number < $1.number }.map(Effect.cancel)
        let open = hostRequests.union(waitingRequests.map(\.id)).sorted { $0.number < $1.number }
        let answered = open.map { Effect.answered($0, .failure(Self.refusal(reason))) }
        viewRequests = [:]
        followed = [:]
        hostRequests = []
        waitingRequests = []
        return cancelled + answered
    }
}
