import Synchronization

/// One `subscriptions/listen`: what it is told, until either side ends it.
final class ListenSubscription: ChangeSubscriber {
    private let exchange: Exchange
    private let filter: SubscriptionFilter
    private let uris: Set<String>
    private let tasks: Set<String>
    private let end = OneTimeSignal()

    init(_ exchange: Exchange, _ filter: SubscriptionFilter) {
        self.exchange = exchange
        self.filter = filter
        uris = Set(filter.resourceURIs)
        tasks = Set(filter.taskIDs)
    }

    var scope: UInt64 { exchange.key.scope }

    /// The id of the request, byte for byte: what every message of the subscription is tagged with (SUB-05).
    private var tag: RawJSON { exchange.key.id.json }

    /// The first message: what will be told (SUB-03).
    func acknowledge() {
        exchange.notify(
            Notifications.make("notifications/subscriptions/acknowledged", subscription: tag) {
                $0.member("notifications", filter.json)
            })
    }

    func take(_ changes: [Change]) {
        for change in changes where wants(change) {
            exchange.notify(Notifications.change(change, subscription: tag))
        }
    }

    private func wants(_ change: Change) -> Bool {
        switch change {
        case .toolsList: filter.toolsListChanged
        case .promptsList: filter.promptsListChanged
        case .resourcesList: filter.resourcesListChanged
        case .resource(let uri): uris.contains(uri)
        case .task(let id, _): tasks.contains(id)
        }
    }

    /// Returns when the server ends the subscription, or its client has.
    func wait() async {
        await withTaskCancellationHandler {
            await end.wait()
        } onCancel: {
            end.happen()
        }
    }

    /// The server stops.
    func finish() { end.happen() }
}

/// Something that happens once and that one task waits for.
final class OneTimeSignal: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Void, Never>)
        case happened
    }

    private let state = Mutex(State.open)

    func happen() {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state = .happened }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state -> Bool in
                if case .happened = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
