import Synchronization

/// The subscriptions of one server: those of 2026-07-28, and the sessions of the revisions before.
final class Subscriptions: Sendable {
    let bus = ChangeBus()
    /// What sessions of the handshake revisions have asked for.
    let sessions: SessionMemory
    private let listening = Mutex<[ObjectIdentifier: ListenSubscription]>([:])

    init() { sessions = SessionMemory(bus: bus) }

    /// Runs a subscription to its end.
    func run(_ subscription: ListenSubscription) async {
        let key = ObjectIdentifier(subscription)
        listening.withLock { $0[key] = subscription }
        // Subscribed before it is acknowledged, so that nothing falls between; told after it (SUB-04).
        subscription.acknowledge()
        let number = bus.add(subscription)
        await subscription.wait()
        bus.remove(number)
        listening.withLock { $0[key] = nil }
    }

    /// Ends all of them in good order, or those of one connection, when the server stops (SUB-09).
    func finishAll(in scope: UInt64? = nil) {
        // What changed before the end is told before it.
        bus.deliverNow()
        for subscription in listening.withLock({ Array($0.values) })
        where scope == nil || subscription.scope == scope {
            subscription.finish()
        }
    }
}
