import Synchronization

/// One `subscriptions/listen`: the changes that it reports, until either side ends it.
final class ListenSubscription: ChangeSubscriber {
    private let counted = Counted(.listenSubscription)

    /// The reason why the server ends the subscription.
    enum End: Sendable {
        /// The server no longer serves this connection.
        case served
        /// The client does not read.
        case tooSlow
    }

    /// The number of the connection.
    let channelID: UInt64
    /// The id of the request, byte for byte: every message of the subscription is tagged with it (SUB-05).
    private let tag: RawJSON
    private let filter: SubscriptionFilter
    private let uris: Set<String>
    private let tasks: Set<String>
    /// The reports of other servers about `uris`, which end with the subscription.
    private let watches: [ResourceWatch]
    private let exchange = Mutex<PendingRequest?>(nil)
    private let reason = Mutex(End.served)
    private let end = OneTimeEvent()

    init(
        _ filter: SubscriptionFilter, watches: [ResourceWatch] = [], tag: RawJSON, channelID: UInt64
    ) {
        self.filter = filter
        self.tag = tag
        self.channelID = channelID
        uris = Set(filter.resourceURIs)
        tasks = Set(filter.taskIDs)
        self.watches = watches
    }

    var hasNothingToTell: Bool { filter.isEmpty }

    /// Sends the first message: the changes that will be reported (SUB-03).
    func begin(_ exchange: PendingRequest) {
        self.exchange.withLock { $0 = exchange }
        exchange.notify(
            Notifications.make("notifications/subscriptions/acknowledged", subscription: tag) {
                $0.member("notifications", filter.json)
            })
    }

    func take(_ changes: [Change]) {
        guard let exchange = exchange.withLock({ $0 }) else { return }
        for change in Change.named(changes, watching: uris) where wants(change) {
            exchange.notify(Notifications.change(change, subscription: tag))
        }
    }

    private func wants(_ change: Change) -> Bool {
        switch change {
        case .toolsList: filter.toolsListChanged
        case .promptsList: filter.promptsListChanged
        case .resourcesList: filter.resourcesListChanged
        case .resource(let uri): uris.contains(uri)
        case .anyResource: false
        case .task(let id, _): tasks.contains(id)
        }
    }

    /// Returns when the server ends the subscription, or its client has ended it.
    func wait() async { await end.wait() }

    /// Ends the subscription on behalf of the server.
    func finish(_ end: End) {
        reason.withLock { $0 = end }
        self.end.happen()
    }

    var wasTooSlow: Bool { reason.withLock { $0 } == .tooSlow }
}
