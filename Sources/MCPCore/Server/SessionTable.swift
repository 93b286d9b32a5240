import Synchronization

/// What this instance knows of connections and sessions of the handshake revisions: the log level, the
/// resources that are watched, and where messages of the server go.
///
/// A session id is good without it (any instance with the same key serves it); what was asked for on another
/// instance is then not known here.
final class SessionTable: Sendable {
    /// Sessions without a listener that are remembered; what was asked for the longest ago is forgotten for
    /// one more. Those that somebody listens for stay: they are as many as there are connections.
    static let maxSessions = 10_000
    /// Resources that one session watches; one more is refused.
    static let maxURIs = 1_024
    /// What a session hears that has said nothing (LOG-07).
    static let unsetLevel = LoggingLevel.info

    private struct Session {
        var level: LoggingLevel?
        var uris: Set<String> = []
        /// The newest is the last.
        var streams: [any SessionStream] = []
        var subscriber: UInt64?

        var isEmpty: Bool { level == nil && uris.isEmpty && streams.isEmpty }
        var isHeard: Bool { streams.contains { $0.isLive } }
    }

    private struct State {
        /// Somebody reads a stream of theirs.
        var heard: [UInt64: Session] = [:]
        var quiet = BoundedTable<UInt64, Session>(capacity: maxSessions, policy: .evictLeastRecentlyUsed)

        subscript(channelID: UInt64) -> Session? { heard[channelID] ?? quiet[channelID] }

        mutating func remove(_ channelID: UInt64) -> Session? {
            heard.removeValue(forKey: channelID) ?? quiet.remove(channelID)
        }

        /// Keeps what is worth it, and returns the session that made room.
        mutating func keep(_ session: Session, at channelID: UInt64) -> Session? {
            if session.isEmpty { return nil }
            if session.isHeard {
                heard[channelID] = session
            } else if case .evicted(_, let forgotten) = quiet.insert(session, for: channelID) {
                return forgotten
            }
            return nil
        }
    }

    private let state = Mutex(State())
    private let bus: ChangeBus

    init(bus: ChangeBus) { self.bus = bus }

    /// Changes what is known of a session, and keeps the bus up with whether it has streams.
    private func change<R>(_ channelID: UInt64, _ body: (inout Session) -> R) -> R {
        state.withLock { state in
            var session = state.remove(channelID) ?? Session()
            let result = body(&session)
            // Under the lock: two streams that open at once are one subscriber.
            if session.streams.isEmpty, let subscriber = session.subscriber {
                session.subscriber = nil
                bus.remove(subscriber)
            } else if !session.streams.isEmpty, session.subscriber == nil {
                session.subscriber = bus.add(SessionSubscriber(channelID, self))
            }
            if let subscriber = state.keep(session, at: channelID)?.subscriber { bus.remove(subscriber) }
            return result
        }
    }

    // MARK: Log levels

    func level(of channelID: UInt64) -> LoggingLevel {
        state.withLock { $0[channelID]?.level } ?? Self.unsetLevel
    }

    func set(_ level: LoggingLevel, for channelID: UInt64) {
        change(channelID) { $0.level = level }
    }

    // MARK: Resources

    /// False when the session watches as many as it may.
    func watch(_ uri: String, for channelID: UInt64) -> Bool {
        change(channelID) { session in
            guard session.uris.contains(uri) || session.uris.count < Self.maxURIs else { return false }
            session.uris.insert(uri)
            return true
        }
    }

    func unwatch(_ uri: String, for channelID: UInt64) {
        if watches(uri, channelID) { _ = change(channelID) { $0.uris.remove(uri) } }
    }

    func watches(_ uri: String, _ channelID: UInt64) -> Bool {
        state.withLock { $0[channelID]?.uris.contains(uri) ?? false }
    }

    /// Everything that the session watches.
    func watched(_ channelID: UInt64) -> Set<String> { state.withLock { $0[channelID]?.uris ?? [] } }

    // MARK: Streams

    /// A stream for messages of the server, which is now the newest of its session.
    ///
    /// Streams that nobody reads make room: what their clients missed is kept for them, and what comes from
    /// now on goes to this one.
    func attach(_ stream: any SessionStream, to channelID: UInt64) {
        change(channelID) { session in
            session.streams.removeAll { $0 === stream || !$0.isLive }
            session.streams.append(stream)
        }
    }

    /// A stream of the session may have lost its reader: the session makes room for others from now on, if
    /// nobody else listens for it.
    func lostReader(_ channelID: UInt64) {
        change(channelID) { $0.streams.removeAll(where: \.isForgotten) }
    }

    /// How many streams of the session are read.
    func streamCount(_ channelID: UInt64) -> Int {
        state.withLock { $0[channelID]?.streams.count { $0.isLive } ?? 0 }
    }

    /// The connection or session is over.
    func forget(_ channelID: UInt64) {
        let session = state.withLock { $0.remove(channelID) }
        if let subscriber = session?.subscriber { bus.remove(subscriber) }
        for stream in session?.streams ?? [] { stream.end() }
    }

    /// Sends a message of the server on one stream of the session, and on no other (LEG-16): the newest
    /// that is read, else the newest that a client may come back for. Dropped when there is none.
    func send(_ message: @autoclosure () -> ByteSlice, to channelID: UInt64) {
        let streams = state.withLock { $0[channelID]?.streams ?? [] }
        guard let stream = streams.last(where: \.isLive) ?? streams.last(where: { !$0.isForgotten }) else {
            if !streams.isEmpty { change(channelID) { $0.streams.removeAll(where: \.isForgotten) } }
            return
        }
        stream.send(message())
    }
}

/// Brings changes to one session: those of the lists always, those of resources as it asked.
private final class SessionSubscriber: ChangeSubscriber {
    private let channelID: UInt64
    /// Weak: a delivery may be under way while the server is let go.
    private weak let memory: SessionTable?

    init(_ channelID: UInt64, _ memory: SessionTable) {
        self.channelID = channelID
        self.memory = memory
    }

    func take(_ changes: [Change]) {
        guard let memory else { return }
        for change in Change.named(changes, watching: memory.watched(channelID)) {
            switch change {
            case .task, .anyResource: continue
            case .resource(let uri): guard memory.watches(uri, channelID) else { continue }
            case .toolsList, .promptsList, .resourcesList: break
            }
            memory.send(Notifications.change(change, subscription: nil), to: channelID)
        }
    }
}
