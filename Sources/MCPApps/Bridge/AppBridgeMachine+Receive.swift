public import MCPCore

/// The messages from the view and its sandbox.
extension AppBridgeMachine {
    /// Receives a message from the frame. Whatever it is, the outcome is bounded: at most one response, and
    /// the effects that it requests.
    /// - Parameter now: the current time, for the limits on the messages of a view.
    public mutating func receive(_ message: JSONValue, now: ContinuousClock.Instant) -> [Effect] {
        guard state != .closed else { return [] }
        let count = messages.add(at: now)
        guard count <= 2 * limits.maxMessagesPerSecond else { return [] }
        let message = ViewMessage(message)
        guard count <= limits.maxMessagesPerSecond else { return tooMany(message) }
        switch message {
        case .request(let id, let method, let params): return receive(request: method, params, id)
        case .notification(let method, let params): return receive(notification: method, params, now)
        case .response(let number, let result):
            return receive(response: HostRequestID(number: number), result)
        case .malformed(let reason, nil): return [.notify(.dropped(reason: reason))]
        case .malformed(let reason, let id?):
            return [
                .notify(.dropped(reason: reason)),
                Self.failure(id, .invalidRequest("Invalid request: \(reason).")),
            ]
        }
    }

    /// Returns an error response to a message that could not be delivered, within the limits on the messages
    /// of a view.
    mutating func refuse(_ id: JSONValue, _ reason: String, now: ContinuousClock.Instant) -> [Effect] {
        guard state != .closed, messages.add(at: now) <= 2 * limits.maxMessagesPerSecond,
            let id = ViewMessage.id(id)
        else { return [] }
        return [Self.failure(id, .invalidRequest("The message was dropped: \(reason)."))]
    }

    private func tooMany(_ message: ViewMessage) -> [Effect] {
        let dropped = Effect.notify(
            .dropped(reason: "more than \(limits.maxMessagesPerSecond) messages per second"))
        guard case .request(let id, _, _) = message else { return [dropped] }
        let text = "The host accepts \(limits.maxMessagesPerSecond) messages per second; try again later."
        return [dropped, Self.failure(id, Self.refusal(text))]
    }

    // MARK: Notifications

    private mutating func receive(
        notification method: String, _ params: JSONValue?, _ now: ContinuousClock.Instant
    ) -> [Effect] {
        switch method {
        case "ui/notifications/sandbox-proxy-ready": return proxyReady(now)
        case "ui/notifications/sandbox-csp-violation":
            let texts = ["directive", "blockedURI"].map { params?[$0]?.stringValue?.prefix(500) ?? "" }
            return [.notify(.violation(directive: String(texts[0]), blockedURI: String(texts[1])))]
        case "ui/notifications/sandbox-navigated": return [.notify(.navigatedAway)]
        case "ui/notifications/sandbox-error":
            return [.notify(.failedToLoad(String((params?["text"]?.stringValue ?? "").prefix(500))))]
        case "ui/notifications/sandbox-webrtc": return [.notify(.usesWebRTC)]
        case "ui/notifications/sandbox-escape": return [.notify(.escape)]
        case "ui/notifications/initialized": return initialized()
        case "notifications/cancelled": return cancelled(params)
        case "notifications/progress": return []
        default: break
        }
        guard state == .ready || state == .tearingDown else {
            return [.notify(.dropped(reason: "\(method) before the view was initialized"))]
        }
        switch method {
        case "ui/notifications/size-changed": return sizeChanged(params)
        case "ui/notifications/request-teardown": return [.notify(.requestTeardown)]
        case "notifications/tools/list_changed": return toolsChanged(now)
        case "notifications/message":
            guard let message = params.flatMap({ try? LogMessage(json: $0) }) else {
                return [.notify(.dropped(reason: "a log message without a level"))]
            }
            return [.notify(.log(level: message.level, logger: message.logger, data: message.data))]
        default: return [.notify(.dropped(reason: "\(method) is unknown"))]
        }
    }

    private mutating func proxyReady(_ now: ContinuousClock.Instant) -> [Effect] {
        guard restarts.add(at: now) <= limits.maxRestartsPerMinute else {
            return [
                .notify(.dropped(reason: "loaded more than \(limits.maxRestartsPerMinute) times in a minute"))
            ]
        }
        // The page that was being torn down is gone.
        guard state != .tearingDown else { return close("The view was reloaded while it was being closed.") }
        var effects = letGo("The view was reloaded.")
        (hasSentInput, hasSentOutcome, isToolsChangedPending) = (false, false, false)
        (appInfo, appCapabilities) = (nil, nil)
        effects.append(.notify(.proxyReady))
        guard let resource else {
            state = .proxyReady
            return effects
        }
        state = .loading
        var params: JSONObject = ["html": .string(resource.html), "sandbox": .string(SandboxGrant.tokens)]
        for member in sandbox?.json ?? [:] { params[member.key] = member.value }
        effects.append(Self.notification("ui/notifications/sandbox-resource-ready", params))
        effects.append(.setTimer(id: TimerID.hello.rawValue, after: limits.helloTimeout))
        return effects
    }

    private mutating func initialized() -> [Effect] {
        guard state == .initializing else {
            // A page that mounts twice sends it twice.
            return state == .ready ? [] : [.notify(.dropped(reason: "initialized before ui/initialize"))]
        }
        state = .ready
        return [.notify(.initialized)] + tellContext() + tellCall() + sendWaiting()
    }

    private mutating func cancelled(_ params: JSONValue?) -> [Effect] {
        guard let wanted = params?["requestId"],
            let id = viewRequests.first(where: { $0.value == wanted })?.key
        else { return [] }
        viewRequests[id] = nil
        followed[id] = nil
        return [.cancel(id)]
    }

    private func sizeChanged(_ params: JSONValue?) -> [Effect] {
        let room = context.containerDimensions
        let width = extent(params?["width"], room?.width)
        let height = extent(params?["height"], room?.height)
        guard width != nil || height != nil else { return [] }
        return [.notify(.size(width: width, height: height))]
    }

    /// Returns the requested length within the available space; nil for a side that is fixed and for a value
    /// that is not a length.
    private func extent(_ json: JSONValue?, _ room: HostContext.Extent?) -> Double? {
        guard let wish = json?.doubleValue, wish.isFinite, wish >= 0 else { return nil }
        switch room {
        case .fixed: return nil
        case .flexible(let most): return min(wish, most)
        case nil: return min(wish, limits.maxExtent)
        }
    }

    private mutating func toolsChanged(_ now: ContinuousClock.Instant) -> [Effect] {
        guard appCapabilities?.tools != nil else {
            return [.notify(.dropped(reason: "the view declared no tools"))]
        }
        guard !isToolsChangedPending else { return [] }
        if let last = toolsChangedAt, last.duration(to: now) < limits.toolsChangedPause {
            isToolsChangedPending = true
            let rest = limits.toolsChangedPause - last.duration(to: now)
            return [.setTimer(id: TimerID.toolsChanged.rawValue, after: rest)]
        }
        toolsChangedAt = now
        return [.notify(.toolsChanged)]
    }

    // MARK: Responses

    private mutating func receive(response id: HostRequestID, _ result: Result<JSONValue, MCPError>)
        -> [Effect]
    {
        if id == teardownRequest { return close("The view was closed.") }
        guard hostRequests.remove(id) != nil else {
            return [.notify(.dropped(reason: "a response without a matching request"))]
        }
        return [.answered(id, result)]
    }
}
