import Synchronization

/// The subscribers to changes on a connection of the handshake revisions, where a session has a single stream
/// for all of them.
final class SessionSubscriptions: Sendable {
    private struct Entry {
        let filter: SubscriptionFilter
        let needsStream: Bool
        weak var subscription: Subscription?
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var next = 0
        var addresses = SubscribedAddresses()
    }

    private let state = Mutex(State())

    func add(_ filter: SubscriptionFilter, _ subscription: Subscription, needsStream: Bool = false) -> Int {
        state.withLock { state in
            state.next += 1
            state.entries[state.next] = Entry(
                filter: filter, needsStream: needsStream, subscription: subscription)
            return state.next
        }
    }

    var hasAny: Bool { state.withLock { !$0.entries.isEmpty } }

    /// Whether any of them make no call that would discover that the session is gone.
    var needStream: Bool { state.withLock { $0.entries.values.contains(where: \.needsStream) } }

    func remove(_ number: Int) { state.withLock { $0.entries[number] = nil } }

    /// The addresses to subscribe to in a new session.
    var watchedURIs: [String] { state.withLock { $0.addresses.wanted } }

    /// Reads and changes the addresses that the session is subscribed to.
    func withAddresses<T>(_ body: (inout SubscribedAddresses) -> T) -> T {
        state.withLock { body(&$0.addresses) }
    }

    /// Passes a change to every subscriber that asked for it.
    func publish(_ change: ServerChange) {
        let readers = state.withLock { state in
            state.entries.values.filter { $0.filter.wants(change) }.compactMap(\.subscription)
        }
        for reader in readers { reader.publish(change) }
    }

    /// Ends the subscriptions that need a stream: the server sends changes only along with its responses.
    func endThoseThatNeedAStream(_ error: ClientError) {
        let readers = state.withLock { $0.entries.values.filter(\.needsStream).compactMap(\.subscription) }
        for reader in readers { reader.end(.failure(error)) }
    }

    func endAll(_ error: ClientError) {
        let readers = state.withLock { state in
            defer { state.entries = [:] }
            return state.entries.values.compactMap(\.subscription)
        }
        for reader in readers { reader.end(.failure(error)) }
    }
}

extension SubscriptionFilter {
    /// Whether a change is of a kind that was asked for, and about what was asked for.
    func wants(_ change: ServerChange) -> Bool {
        switch change {
        case .toolsListChanged: toolsListChanged
        case .promptsListChanged: promptsListChanged
        case .resourcesListChanged: resourcesListChanged
        // A server may name a part of a watched resource (RES-14).
        case .resourceUpdated(let uri):
            resourceURIs.contains { uri == $0 || uri.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") }
        case .task(let task): taskIDs.contains(task.taskID)
        case .resubscribed: true
        }
    }
}
