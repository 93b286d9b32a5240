/// Subscriptions to changes on the server (basic/patterns/subscriptions; 2025-11-25 server/resources
/// "Subscriptions").
extension MCPClient {
    /// Subscribes to changes.
    ///
    /// In 2026-07-28 this uses `subscriptions/listen`; in earlier revisions, the notifications of the session
    /// and `resources/subscribe` for each address, also if the server has resources and does not declare that
    /// it accepts this: some do. A subscription that breaks is made again after a growing
    /// pause; the reader is notified by `.resubscribed`. An address that the server refuses is omitted from
    /// `accepted`, provided that something is left to subscribe to. Keep a reference to the subscription:
    /// releasing it ends it.
    ///
    /// - Parameter needsStream: for clients that make no other calls. Some HTTP servers of the earlier
    ///   revisions have no event stream of their own and report changes only along with the responses to
    ///   calls; with this parameter, the subscription then ends with `ClientError.httpStatus`, and this
    ///   method waits until the event stream is open, for five seconds at most: a server may be silent on it
    ///   until there is a change.
    ///
    /// - Throws: `MCPError` when the server refuses, for example -32601 when it does not support
    ///   subscriptions; `ClientError` when there was no usable response.
    public func listen(
        _ filter: SubscriptionFilter, needsStream: Bool = false
    ) async throws -> Subscription {
        protocolVersion.isModern
            ? try await listenModern(filter) : try await listenLegacy(filter, needsStream: needsStream)
    }

    // MARK: 2026-07-28

    private func listenModern(_ filter: SubscriptionFilter) async throws -> Subscription {
        let subscription = Subscription(accepted: SubscriptionFilter())
        let stream = SubscriptionStream(connection: connection, filter: filter, subscription: subscription)
        try await stream.open()
        let task = Task { await stream.run() }
        subscription.whenCancelled { task.cancel() }
        return subscription
    }

    // MARK: Earlier revisions

    private func listenLegacy(
        _ filter: SubscriptionFilter, needsStream: Bool
    ) async throws -> Subscription {
        let capabilities = serverCapabilities.json
        var accepted = SubscriptionFilter()
        func tells(_ list: String) -> Bool { capabilities[list]?["listChanged"]?.boolValue == true }
        accepted.toolsListChanged = filter.toolsListChanged && tells("tools")
        accepted.promptsListChanged = filter.promptsListChanged && tells("prompts")
        accepted.resourcesListChanged = filter.resourcesListChanged && tells("resources")
        let isDeclared = capabilities["resources"]?["subscribe"]?.boolValue == true
        // Servers of the Python SDK 1.x accept subscriptions and declare that they do not.
        if serverCapabilities.hasResources { accepted.resourceURIs = filter.resourceURIs }
        let subscription = Subscription(accepted: accepted)
        let connection = connection
        let listener = connection.addListener(accepted, subscription, needsStream: needsStream)
        connection.transport.openServerStream()
        var subscribed: [String] = []
        do {
            var refusal: (any Error)?
            for uri in accepted.resourceURIs {
                do {
                    try await subscribe(to: uri, isDeclared: isDeclared)
                    subscribed.append(uri)
                } catch {
                    guard Self.isRefusal(error, isDeclared: isDeclared) else { throw error }
                    refusal = refusal ?? error
                    // It would be as silent about the others.
                    if !(error is MCPError) { break }
                }
            }
            // As in 2026-07-28, the server reports changes of the addresses that are left.
            if let refusal {
                accepted.resourceURIs = subscribed
                guard !accepted.isEmpty || !isDeclared else { throw refusal }
                subscription.accept(accepted)
            }
            if needsStream { await connection.serverStreamIsSettled() }
            // Nothing would end a listener that was added after the end of the connection.
            if let end = connection.endOfConnection { throw end }
            // Whoever needs the stream has waited for it.
            connection.reportOutage { needsStream || $0.isLong }
        } catch {
            await connection.leave(subscribed)
            connection.listeners.remove(listener)
            throw error
        }
        subscription.whenCancelled { [subscribed] in
            connection.listeners.remove(listener)
            await connection.leave(subscribed)
        }
        return subscription
    }

    /// Returns the changes to the tools of a server of the handshake revisions, regardless of its declared
    /// capabilities: a server without tools may have some later, and no way to declare them then.
    func listenForTools() -> Subscription {
        let filter = SubscriptionFilter(toolsListChanged: true)
        let subscription = Subscription(accepted: filter)
        let connection = connection
        let listener = connection.addListener(filter, subscription)
        connection.transport.openServerStream()
        subscription.whenCancelled { connection.listeners.remove(listener) }
        return subscription
    }

    /// Subscribes the session to an address, for one more who watches it.
    ///
    /// - Throws: the error of the request, also for those who have waited for it.
    private func subscribe(to uri: String, isDeclared: Bool) async throws {
        while true {
            switch connection.listeners.withAddresses({ $0.join(uri) }) {
            case .joined: return
            case .wait(let exchange):
                if let error = await exchange.value(ifCancelled: CancellationError()) { throw error }
            case .ask:
                do {
                    _ = try await request("resources/subscribe", ["uri": .string(uri)])
                } catch {
                    // Without a refusal, the server may have subscribed the session. Those who wait are not
                    // cancelled, and ask themselves.
                    connection.settle(
                        uri, isSubscribed: !Self.isRefusal(error, isDeclared: isDeclared),
                        error: Task.isCancelled ? nil : error)
                    throw error
                }
                connection.settle(uri, isSubscribed: true, adding: 1)
                return
            }
        }
    }

    /// Whether a server does not report an address. One that does not declare subscriptions may say nothing.
    private static func isRefusal(_ error: any Error, isDeclared: Bool) -> Bool {
        error is MCPError || !isDeclared && (error as? ClientError)?.kind == .timeout
    }

    /// Subscribes again to an address that is watched: the server may have forgotten it.
    ///
    /// - Throws: `MCPError` when the server refuses; `ClientError` when there was no usable response.
    func renewSubscription(to uri: String) async throws {
        switch await connection.renewSubscription(to: uri, CallOptions()) {
        case .result?, nil: break
        case .refused(let error, _)?: throw error
        case .failed(let error)?: throw error
        }
    }
}

extension ClientConnection {
    /// Ends a request about an address, and unsubscribes if nobody watches it any more.
    fileprivate func settle(
        _ uri: String, isSubscribed: Bool, adding watchers: Int = 0, error: (any Error)? = nil
    ) {
        let isToBeLeft = listeners.withAddresses {
            $0.settle(uri, isSubscribed: isSubscribed, adding: watchers, error: error)
        }
        if isToBeLeft { unsubscribe(from: uri) }
    }

    /// Ends the watch of addresses.
    fileprivate func leave(_ uris: [String]) async {
        for uri in uris where listeners.withAddresses({ $0.leave(uri) }) {
            await unsubscribe(from: uri).value
        }
    }

    /// Unsubscribes from an address, also for a caller who is cancelled.
    @discardableResult
    private func unsubscribe(from uri: String) -> Task<Void, Never> {
        Task {
            let options = CallOptions(timeout: .seconds(5), deadline: .seconds(5))
            _ = await call("resources/unsubscribe", ["uri": .string(uri)], options)
            settle(uri, isSubscribed: false)
        }
    }

    /// Subscribes again to an address; returns nil when nobody watches it any more.
    @discardableResult
    func renewSubscription(to uri: String, _ options: CallOptions) async -> ClientCall.Reply? {
        guard let isFirst = listeners.withAddresses({ $0.renew(uri) }) else { return nil }
        let reply = await call("resources/subscribe", ["uri": .string(uri)], options)
        // Otherwise another request says how it stands.
        guard isFirst else { return reply }
        var isSubscribed = true
        if case .refused = reply { isSubscribed = false }
        settle(uri, isSubscribed: isSubscribed)
        return reply
    }
}
