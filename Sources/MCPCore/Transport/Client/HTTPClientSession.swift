import Synchronization

/// The legacy session of an HTTP client: the loop learns its id, callers send it.
final class HTTPClientSession: Sendable {
    private struct State {
        var id: String?
        var revision: Revision?
        var isClosed = false
        var announcedTarget: String?
    }

    private let state = Mutex(State())
    private let openingNumber = Atomic<UInt8>(0)

    /// The server opened a session; nil: it keeps none.
    func open(_ id: String?) { state.withLock { $0.id = id } }

    /// The id to send with a message. A new session begins without the id of the old one (LEG-25).
    func id(for message: OutboundMessage) -> String? {
        state.withLock { state in
            if message.method == "initialize" { state.id = nil }
            guard let revision = message.revision else { return nil }
            state.revision = revision
            return revision.isModern ? nil : state.id
        }
    }

    /// What the connection that is being opened waits for; nil when it is open.
    var opening: HTTPClientConnection.Opening? {
        get { HTTPClientConnection.Opening(rawValue: openingNumber.load(ordering: .relaxed)) }
        set { openingNumber.store(newValue?.rawValue ?? 0, ordering: .relaxed) }
    }

    /// The server speaks HTTP+SSE, and takes messages there (LEG-31).
    func announce(_ target: String) { state.withLock { $0.announcedTarget = target } }

    /// Where messages are posted to, when that is not the endpoint.
    var announcedTarget: String? { state.withLock { $0.announcedTarget } }

    /// The session that is open, if the server keeps one, and the revision that was spoken last.
    var current: (id: String?, revision: Revision?) { state.withLock { ($0.id, $0.revision) } }

    /// The session to delete; nil when there is none, or it was taken already.
    func end() -> (id: String, revision: Revision?)? {
        state.withLock { state in
            guard !state.isClosed, let id = state.id else { return nil }
            state.isClosed = true
            state.id = nil
            return (id, state.revision)
        }
    }
}
