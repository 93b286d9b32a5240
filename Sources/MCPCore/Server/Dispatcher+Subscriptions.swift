/// `subscriptions/listen`, and `resources/subscribe` of the handshake revisions.
extension Dispatcher {
    /// The maximum number of resources and tasks that one subscription may name; more are refused.
    static let maxURIs = 1_024

    /// Not inlined into the routing code, in which tool calls have to be fast.
    @inline(never)
    func listen(
        _ request: Request, _ registry: Registry, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        let request = request.copied
        let filter: SubscriptionFilter
        do {
            filter = try honoured(request, registry)
        } catch {
            return fail(request, error, &writer)
        }
        let subscription = ListenSubscription(
            filter, tag: RawJSON(unchecked: request.idBytes), channelID: request.channelID)
        subscriptions.enter(subscription)
        let disposition = `defer`(request, timeout: nil, isEndless: true, &writer, sink) { [self] call in
            if subscription.hasNothingToTell {
                // There is nothing to wait for (SUB-15).
                subscription.begin(call.exchange)
            } else {
                await subscriptions.run(subscription, call.exchange)
            }
            return answer(call, atTheEndOf: subscription)
        }
        // Refused: the subscription never began.
        if case .answered = disposition { subscriptions.leave(subscription) }
        return disposition
    }

    /// Kept out of the task that waits for the end, like `settle`.
    @inline(never)
    private func answer(_ call: DeferredCall, atTheEndOf subscription: ListenSubscription) -> Answer {
        subscriptions.leave(subscription)
        guard subscription.wasTooSlow else { return answer { end(call.request, &$0) } }
        return answer { fail(call.request, Self.tooSlow, &$0) }
    }

    private static var tooSlow: MCPError {
        MCPError(
            code: MCPError.overloadedCode,
            message: "This subscription ended because its messages were not read; listen again")
    }

    /// Returns the requested filter, as far as this server supports it (SUB-03).
    private func honoured(
        _ request: Request, _ registry: Registry
    ) throws(MCPError) -> SubscriptionFilter {
        guard let json = request.message.params?["notifications"]?.value else {
            throw .invalidParams("subscriptions/listen needs \"notifications\", an object")
        }
        var filter: SubscriptionFilter
        do {
            filter = try SubscriptionFilter(json: json)
        } catch {
            throw .invalidParams("\"notifications\": \(error)")
        }
        guard filter.resourceURIs.count + filter.taskIDs.count <= Self.maxURIs else {
            throw .invalidParams("A subscription may name at most \(Self.maxURIs) resources and tasks")
        }
        if !registry.offersTools { filter.toolsListChanged = false }
        if !registry.offersPrompts { filter.promptsListChanged = false }
        if !registry.offersResources { filter.resourcesListChanged = false }
        filter.resourceURIs.removeAll { !registry.reportsChanges(of: $0) || !mayUse($0, request) }
        filter.taskIDs = try honouredTasks(filter.taskIDs, request)
        return filter
    }

    /// Writes the closing result, which the server sends when it ends the subscription (SUB-09).
    private func end(_ request: Request, _ writer: inout JSONWriter) -> Disposition {
        let mark = writer.mark
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        let tag: JSONObject = [
            "io.modelcontextprotocol/subscriptionId": RawJSON(unchecked: request.idBytes).value
        ]
        return close(request, from: mark, meta: tag, &writer)
    }

    // MARK: Before 2026-07-28

    func subscribe(
        _ request: Request, _ registry: Registry, _ writer: inout JSONWriter
    ) -> Disposition {
        guard let uri = request.message.raw(request.message.head.uri)?.string, Self.isAddress(uri) else {
            return fail(request, .invalidParams("resources/subscribe needs \"uri\", a URI"), &writer)
        }
        var unknown = MCPError.resourceNotFound(uri)
        unknown.message = "Changes to \(uri) are not reported: the resource is unknown or not watched"
        guard registry.reportsChanges(of: uri) else { return fail(request, unknown, &writer) }
        if let error = refusal(request, on: uri, hiding: unknown) { return fail(request, error, &writer) }
        guard subscriptions.sessions.watch(uri, for: request.channelID) else {
            let limit = SessionTable.maxURIs
            return fail(request, .invalidParams("A session may watch at most \(limit) resources"), &writer)
        }
        return pong(request, &writer)
    }

    func unsubscribe(_ request: Request, _ writer: inout JSONWriter) -> Disposition {
        guard let uri = request.message.raw(request.message.head.uri)?.string else {
            return fail(request, .invalidParams("resources/unsubscribe needs \"uri\", a URI"), &writer)
        }
        subscriptions.sessions.unwatch(uri, for: request.channelID)
        return pong(request, &writer)
    }
}
