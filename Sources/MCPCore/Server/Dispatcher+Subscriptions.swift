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
        let (filter, watches): (SubscriptionFilter, [ResourceWatch])
        do {
            (filter, watches) = try honoured(request, registry)
        } catch {
            return fail(request, error, &writer)
        }
        let subscription = ListenSubscription(
            filter, watches: watches, tag: RawJSON(unchecked: request.idBytes), channelID: request.channelID)
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

    /// Returns the requested filter, as far as this server supports it (SUB-03) and the caller may use what
    /// it names, and the reports of other servers.
    private func honoured(
        _ request: Request, _ registry: Registry
    ) throws(MCPError) -> (filter: SubscriptionFilter, watches: [ResourceWatch]) {
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
        let addressBytes = filter.resourceURIs.reduce(0) { $0 + SessionTable.bytes(of: $1) }
        guard addressBytes <= SessionTable.maxURIBytes else {
            let limit = SessionTable.maxURIBytes >> 20
            throw .invalidParams("The addresses of a subscription may have at most \(limit) MiB")
        }
        if !registry.offersTools { filter.toolsListChanged = false }
        if !registry.offersPrompts { filter.promptsListChanged = false }
        if !registry.offersResources { filter.resourcesListChanged = false }
        filter.taskIDs = try honouredTasks(filter.taskIDs, request)
        var watches: [ResourceWatch] = []
        // A resource that the caller may not use is of no concern to any other server.
        filter.resourceURIs.removeAll { uri in
            guard mayUse(uri, request), let reports = registry.watch(uri, for: request.principalKey) else {
                return true
            }
            if case .forwarded(let watch) = reports { watches.append(watch) }
            return false
        }
        return (filter, watches)
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
        if let error = refusal(request, on: uri, hiding: unknown) { return fail(request, error, &writer) }
        guard let reports = registry.watch(uri, for: request.principalKey) else {
            return fail(request, unknown, &writer)
        }
        guard subscriptions.sessions.watch(uri, reports, for: request.channelID) else {
            return fail(
                request,
                .invalidParams(
                    "A session may watch at most \(SessionTable.maxURIs) resources, with addresses of "
                        + "\(SessionTable.maxURIBytes >> 20) MiB"),
                &writer)
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
