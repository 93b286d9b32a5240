import Synchronization

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
            tag: RawJSON(unchecked: request.idBytes), channelID: request.channelID)
        subscriptions.enter(subscription)
        let disposition = `defer`(request, timeout: nil, isEndless: true, &writer, sink) { [self] call in
            guard let scope = await reported(filter, of: call, registry) else {
                subscriptions.leave(subscription)
                return nil
            }
            if scope.hasNothingToTell {
                // There is nothing to wait for (SUB-15).
                subscription.begin(scope, call.exchange)
            } else {
                await subscriptions.run(subscription, scope, call.exchange)
            }
            return answer(call, atTheEndOf: subscription)
        }
        // Refused: the subscription never began.
        if case .answered = disposition { subscriptions.leave(subscription) }
        return disposition
    }

    /// Returns what a subscription reports: of the resources those that the caller may use, and whose changes
    /// are reported here or by another server; nil when the request has ended meanwhile.
    @inline(never)
    private func reported(
        _ filter: SubscriptionFilter, of call: DeferredCall, _ registry: Registry
    ) async -> ListenSubscription.Scope? {
        let request = call.request
        var reports: [String: Registry.ChangeReports] = [:]
        var watches: [String: ResourceWatch] = [:]
        // A resource that the caller may not use is of no concern to any other server.
        let wanted = filter.resourceURIs.filter { mayUse($0, request) }
        for uri in wanted { reports[uri] = registry.watch(uri, for: request.principalKey) }
        var later: [String: ResourceWatch] = [:]
        if reports.count < Set(wanted).count, let arrivals = registry.contents.arrivals {
            guard await everything(after: arrivals, for: call) else { return nil }
            let registry = self.registry.current
            for uri in wanted where reports[uri] == nil {
                reports[uri] = registry.watch(uri, for: request.principalKey)
                if reports[uri] == nil {
                    later[uri] = registry.contents.watchLater?(uri, request.principalKey)
                }
            }
        }
        for case (let uri, .forwarded(let watch)) in reports { watches[uri] = watch }
        for uri in await Self.refused(watches) { (reports[uri], watches[uri]) = (nil, nil) }
        var filter = filter
        filter.resourceURIs.removeAll { reports[$0] == nil }
        return ListenSubscription.Scope(
            filter, later: Array(later.keys), watches: Array(watches.values) + later.values)
    }

    /// Returns the resources whose changes another server does not report. One that does not say so in time
    /// may report them later.
    private static func refused(_ watches: [String: ResourceWatch]) async -> Set<String> {
        if watches.isEmpty { return [] }
        let refused = Mutex<Set<String>>([])
        try? await Race.run(within: ResourceWatch.longestAnswer) {
            for (uri, watch) in watches where await watch.isRefused() {
                refused.withLock { _ = $0.insert(uri) }
            }
        }
        return refused.withLock { $0 }
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

    /// Returns the requested filter, as far as this server supports it (SUB-03), with all resources.
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
        let addressBytes = filter.resourceURIs.reduce(0) { $0 + SessionTable.bytes(of: $1) }
        guard addressBytes <= SessionTable.maxURIBytes else {
            let limit = SessionTable.maxURIBytes >> 20
            throw .invalidParams("The addresses of a subscription may have at most \(limit) MiB")
        }
        if !registry.offersTools { filter.toolsListChanged = false }
        if !registry.offersPrompts { filter.promptsListChanged = false }
        if !registry.offersResources { filter.resourcesListChanged = false }
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
        _ request: Request, _ registry: Registry, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        guard let uri = request.message.raw(request.message.head.uri)?.string, Self.isAddress(uri) else {
            return fail(request, .invalidParams("resources/subscribe needs \"uri\", a URI"), &writer)
        }
        var unknown = MCPError.resourceNotFound(uri)
        unknown.message = "Changes to \(uri) are not reported: the resource is unknown or not watched"
        if let error = refusal(request, on: uri, hiding: unknown) { return fail(request, error, &writer) }
        let reports = registry.watch(uri, for: request.principalKey)
        let sessions = subscriptions.sessions
        if case .own? = reports {
            return answer(request, isWatched: sessions.watch(uri, .own, for: request.channelID), &writer)
        }
        let arrivals = registry.contents.arrivals
        if reports == nil, arrivals == nil { return fail(request, unknown, &writer) }
        let request = request.copied
        // It may be withdrawn before the answer.
        let wish = sessions.wish(uri, for: request.channelID)
        let disposition = `defer`(request, timeout: nil, &writer, sink) { [self, unknown] call in
            defer { sessions.drop(wish) }
            var reports = reports
            if reports == nil, let arrivals {
                guard await everything(after: arrivals, for: call) else { return nil }
                reports = self.registry.current.watch(uri, for: request.principalKey)
            }
            var isReported = reports != nil
            if case .forwarded(let watch)? = reports { isReported = await Self.refused([uri: watch]).isEmpty }
            guard isReported, let reports else { return answer { fail(request, unknown, &$0) } }
            if call.exchange.isOver { return nil }
            return answer { answer(request, isWatched: sessions.grant(wish, reports), &$0) }
        }
        if case .answered = disposition { sessions.drop(wish) }
        return disposition
    }

    private func answer(_ request: Request, isWatched: Bool, _ writer: inout JSONWriter) -> Disposition {
        guard isWatched else {
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
