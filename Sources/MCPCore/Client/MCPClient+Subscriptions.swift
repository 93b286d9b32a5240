/// Changes of the server (basic/patterns/subscriptions; 2025-11-25 server/resources "Subscriptions").
extension MCPClient {
    /// Subscribes to changes.
    ///
    /// 2026-07-28: `subscriptions/listen`. Before: the notifications of the session, and
    /// `resources/subscribe` for each address. A subscription that breaks is made again, with a growing
    /// pause; the reader is told by `.resubscribed`. Keep the subscription: letting go of it ends it.
    ///
    /// - Parameter needsStream: for clients that call nothing else. Some HTTP servers of the revisions before
    ///   have no event stream of their own, and tell of changes only along with the answers to calls; then
    ///   the subscription ends with `ClientError.httpStatus`.
    /// An address that a server refuses is left out of `accepted`, as long as something is left.
    ///
    /// - Throws: `MCPError` when the server refuses, for example -32601 when it has no subscriptions;
    ///   `ClientError` when no usable answer came.
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

    // MARK: Before

    private func listenLegacy(
        _ filter: SubscriptionFilter, needsStream: Bool
    ) async throws -> Subscription {
        let capabilities = serverCapabilities.json
        var accepted = SubscriptionFilter()
        func tells(_ list: String) -> Bool { capabilities[list]?["listChanged"]?.boolValue == true }
        accepted.toolsListChanged = filter.toolsListChanged && tells("tools")
        accepted.promptsListChanged = filter.promptsListChanged && tells("prompts")
        accepted.resourcesListChanged = filter.resourcesListChanged && tells("resources")
        if capabilities["resources"]?["subscribe"]?.boolValue == true {
            accepted.resourceURIs = filter.resourceURIs
        }
        let subscription = Subscription(accepted: accepted)
        let connection = connection
        let listener = connection.listeners.add(accepted, subscription, needsStream: needsStream)
        connection.transport.openServerStream()
        var subscribed: [String] = []
        do {
            var refusal: MCPError?
            for uri in accepted.resourceURIs {
                subscribed.append(uri)
                // The server keeps one subscription per address and session, whoever asked for it here.
                guard connection.listeners.retain(uri) else { continue }
                do {
                    _ = try await request("resources/subscribe", ["uri": .string(uri)])
                } catch let error as MCPError {
                    _ = connection.listeners.release(uri)
                    subscribed.removeLast()
                    refusal = refusal ?? error
                }
            }
            // As in 2026-07-28, what is left is what the server tells of.
            if let refusal {
                accepted.resourceURIs = subscribed
                guard !accepted.isEmpty else { throw refusal }
                subscription.accept(accepted)
            }
            // Nobody ends what was added after the end.
            if let end = connection.endOfConnection { throw end }
        } catch {
            await Self.unsubscribe(subscribed, connection)
            connection.listeners.remove(listener)
            throw error
        }
        subscription.whenCancelled { [subscribed] in
            connection.listeners.remove(listener)
            await Self.unsubscribe(subscribed, connection)
        }
        return subscription
    }

    /// The changes of the tools of a server of the handshake revisions, whatever it has declared: one without
    /// tools may have some later, and no way of declaring them then.
    func listenForTools() -> Subscription {
        let filter = SubscriptionFilter(toolsListChanged: true)
        let subscription = Subscription(accepted: filter)
        let connection = connection
        let listener = connection.listeners.add(filter, subscription)
        connection.transport.openServerStream()
        subscription.whenCancelled { connection.listeners.remove(listener) }
        return subscription
    }

    private static func unsubscribe(_ uris: [String], _ connection: ClientConnection) async {
        for uri in uris where connection.listeners.release(uri) {
            let options = CallOptions(timeout: .seconds(5), deadline: .seconds(5))
            _ = await connection.call("resources/unsubscribe", ["uri": .string(uri)], options)
        }
    }
}
