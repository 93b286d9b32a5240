import Synchronization

/// The legacy session of an HTTP client: the loop learns its id, and callers send it.
final class HTTPClientSession: Sendable {
    private struct State {
        var id: String?
        /// The number of sessions that were opened: a server may give each of them the same id.
        var number = 0
        var revision: Revision?
        var isClosed = false
        var announcedTarget: String?
        /// Whether the event stream of HTTP+SSE has ended, and the session with it.
        var isLost = false
        /// For whom the credentials of the last request stood; nil before the first one.
        var identity: String??
    }

    private let state = Mutex(State())
    private let openingNumber = Atomic<UInt8>(0)

    /// Stores the session that the server opened; nil when the server keeps none.
    func open(_ id: String?) {
        state.withLock { state in
            state.id = id
            state.number += 1
            state.isLost = false
        }
    }

    /// Returns the target to post a message to, when it is not the endpoint, and the id to send with it; nil
    /// when the session is lost. A new session begins without the id of the old one (LEG-25).
    func route(of message: OutboundMessage) -> (announcedTarget: String?, id: String?)? {
        state.withLock { state in
            if message.method == "initialize" { state.id = nil } else if state.isLost { return nil }
            guard let revision = message.revision else { return (state.announcedTarget, nil) }
            if state.revision != revision { state.revision = revision }
            return (state.announcedTarget, revision.isModern ? nil : state.id)
        }
    }

    /// Records for whom the credentials of a request stand. Returns whether that is somebody else than
    /// before; the session of one who was known is dropped then (AUTH-46).
    func adopts(_ identity: String?) -> Bool {
        state.withLock { state in
            guard let known = state.identity else {
                state.identity = .some(identity)
                return false
            }
            guard known != identity else { return false }
            state.identity = .some(identity)
            // A session from before the first login is kept: the server decides whether it still is one.
            if known != nil { state.id = nil }
            return true
        }
    }

    /// The step that the connection that is being opened waits for; nil when it is open.
    var opening: HTTPClientConnection.Opening? {
        get { HTTPClientConnection.Opening(rawValue: openingNumber.load(ordering: .relaxed)) }
        set { openingNumber.store(newValue?.rawValue ?? 0, ordering: .relaxed) }
    }

    /// Stores the target at which the server, which uses HTTP+SSE, accepts messages (LEG-31).
    func announce(_ target: String) {
        state.withLock { state in
            state.announcedTarget = target
            state.isLost = false
        }
    }

    /// Records that the event stream of HTTP+SSE has ended: the server no longer accepts messages at the
    /// target that it announced.
    func lose() {
        state.withLock { state in
            state.announcedTarget = nil
            state.isLost = true
        }
    }

    /// Whether the event stream of HTTP+SSE has ended, and no other one was opened.
    var isLost: Bool { state.withLock { $0.isLost } }

    /// The target that messages are posted to, when it is not the endpoint.
    var announcedTarget: String? { state.withLock { $0.announcedTarget } }

    /// The session that is open, if the server keeps one, and the revision that was used last.
    var current: (id: String?, revision: Revision?) { state.withLock { ($0.id, $0.revision) } }

    /// The number of the session that was opened last.
    var number: Int { state.withLock { $0.number } }

    /// Returns the session to delete; nil when there is none, or it was already taken.
    func end() -> (id: String, revision: Revision?)? {
        state.withLock { state in
            guard !state.isClosed, let id = state.id else { return nil }
            state.isClosed = true
            state.id = nil
            return (id, state.revision)
        }
    }
}
