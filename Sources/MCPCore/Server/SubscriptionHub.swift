import Synchronization

/// The subscriptions of one server: those of 2026-07-28, and the sessions of earlier revisions.
final class SubscriptionHub: Sendable {
    let bus: ChangeBus
    /// The requests that sessions of the handshake revisions have made.
    let sessions: SessionTable
    /// The subscriptions by connection.
    private let listening = Mutex<[UInt64: [ListenSubscription]]>([:])

    init(clock: any TimeSource) {
        bus = ChangeBus(clock: clock)
        sessions = SessionTable(bus: bus)
    }

    /// Adds a subscription before any part of it runs, because its connection may end in the meantime.
    func enter(_ subscription: ListenSubscription) {
        listening.withLock { $0[subscription.channelID, default: []].append(subscription) }
    }

    func leave(_ subscription: ListenSubscription) {
        listening.withLock { listening in
            let rest = (listening[subscription.channelID] ?? []).filter { $0 !== subscription }
            listening[subscription.channelID] = rest.isEmpty ? nil : rest
        }
    }

    /// Runs a subscription to its end.
    func run(
        _ subscription: ListenSubscription, _ scope: ListenSubscription.Scope, _ exchange: PendingRequest
    ) async {
        let number = await bus.add(subscription) { subscription.begin(scope, exchange) }
        await subscription.wait()
        bus.remove(number)
    }

    /// Ends all subscriptions of one connection in an orderly way, when the server stops serving it (SUB-09).
    func finish(in channelID: UInt64, _ end: ListenSubscription.End = .served) {
        for subscription in listening.withLock({ $0[channelID] ?? [] }) { subscription.finish(end) }
    }
}
