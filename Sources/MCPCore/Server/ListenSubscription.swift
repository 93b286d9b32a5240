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

    /// What it reports.
    struct Scope: Sendable {
        let filter: SubscriptionFilter
        let uris: Set<String>
        let tasks: Set<String>
        /// The reports of other servers about `uris`, which end with the subscription.
        let watches: [ResourceWatch]
        fileprivate var exchange: PendingRequest?

        /// - Parameter later: resources that another server may have later; they are not acknowledged.
        init(_ filter: SubscriptionFilter, later: [String], watches: [ResourceWatch]) {
            self.filter = filter
            self.watches = watches
            uris = Set(filter.resourceURIs).union(later)
            tasks = Set(filter.taskIDs)
        }

        var hasNothingToTell: Bool { filter.isEmpty && uris.isEmpty }

        fileprivate func wants(_ change: Change) -> Bool {
            switch change {
            case .toolsList: filter.toolsListChanged
            case .promptsList: filter.promptsListChanged
            case .resourcesList: filter.resourcesListChanged
            case .resource(let uri): uris.contains(uri)
            case .anyResource: false
            case .task(let id, _): tasks.contains(id)
            }
        }
    }

    /// The number of the connection.
    let channelID: UInt64
    /// The id of the request, byte for byte: every message of the subscription is tagged with it (SUB-05).
    private let tag: RawJSON
    private let scope = Mutex<Scope?>(nil)
    private let reason = Mutex(End.served)
    private let end = OneTimeEvent()

    init(tag: RawJSON, channelID: UInt64) {
        self.tag = tag
        self.channelID = channelID
    }

    /// Sends the first message: the changes that will be reported (SUB-03).
    func begin(_ scope: Scope, _ exchange: PendingRequest) {
        self.scope.withLock { current in
            current = scope
            current?.exchange = exchange
        }
        exchange.notify(
            Notifications.make("notifications/subscriptions/acknowledged", subscription: tag) {
                $0.member("notifications", scope.filter.json)
            })
    }

    func take(_ changes: [Change]) {
        guard let scope = scope.withLock({ $0 }), let exchange = scope.exchange else { return }
        for change in Change.named(changes, watching: scope.uris) where scope.wants(change) {
            exchange.notify(Notifications.change(change, subscription: tag))
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
