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
                subscribed.append(uri)
                // The server keeps one subscription per address and session, no matter how many callers here
                // asked for it.
                guard connection.listeners.retain(uri) else { continue }
                do {
                    _ = try await request("resources/subscribe", ["uri": .string(uri)])
                } catch {
                    let isSilent = (error as? ClientError)?.kind == .timeout
                    guard error is MCPError || !isDeclared && isSilent else { throw error }
                    _ = connection.listeners.release(uri)
                    subscribed.removeLast()
                    refusal = refusal ?? error
                    // It would be as silent about the others.
                    if isSilent { break }
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

    private static func unsubscribe(_ uris: [String], _ connection: ClientConnection) async {
        for uri in uris where connection.listeners.release(uri) {
            let options = CallOptions(timeout: .seconds(5), deadline: .seconds(5))
            _ = await connection.call("resources/unsubscribe", ["uri": .string(uri)], options)
        }
    }
}
