import Synchronization

/// The state that this instance keeps for connections and sessions of the handshake revisions: the log level,
/// the watched resources, and the streams that carry server messages.
///
/// A session id is valid without this state (any instance with the same key serves it), but what the client
/// requested on another instance is then unknown here.
final class SessionTable: Sendable {
    /// The maximum number of remembered sessions without a listener; the one with the oldest request is
    /// evicted to make room for a new one. Sessions with a listener stay: there are only as many as there
    /// are connections.
    static let maxSessions = 10_000
    /// The maximum number of resources that one session watches; another one is refused.
    static let maxURIs = 1_024
    /// The maximum number of bytes of their addresses, each of which counts 64 bytes more; another one is
    /// refused.
    static let maxURIBytes = 1 << 20
    /// The maximum number of such bytes of all sessions without a listener; beyond it, those with the oldest
    /// request are evicted.
    static let maxQuietBytes = 64 << 20
    /// The log level of a session that has not set one (LOG-07).
    static let unsetLevel = LoggingLevel.info

    private struct Session {
        var level: LoggingLevel?
        var uris: Set<String> = []
        /// The bytes that they count.
        var uriBytes = 0
        /// The reports of other servers about them.
        var watches: [String: ResourceWatch] = [:]
        /// The resources that are watched once another server has agreed, by the numbers of the wishes. The
        /// requests in flight bound them.
        var wishes: [Int: String] = [:]
        /// The streams of the session; the newest is the last.
        var streams: [any SessionStream] = []
        var subscriber: UInt64?

        var isEmpty: Bool { level == nil && uris.isEmpty && wishes.isEmpty && streams.isEmpty }
        var isHeard: Bool { streams.contains { $0.isLive } }

        /// Returns false when it watches as much as it may.
        mutating func watch(_ uri: String, _ reports: Registry.ChangeReports) -> Bool {
            if uris.contains(uri) { return true }
            let bytes = SessionTable.bytes(of: uri)
            guard uris.count < maxURIs, uriBytes + bytes <= maxURIBytes else { return false }
            uris.insert(uri)
            uriBytes += bytes
            if case .forwarded(let watch) = reports { watches[uri] = watch }
            return true
        }

        mutating func unwatch(_ uri: String) {
            wishes = wishes.filter { $0.value != uri }
            guard uris.remove(uri) != nil else { return }
            uriBytes -= SessionTable.bytes(of: uri)
            watches[uri] = nil
        }
    }

    private struct State {
        /// The sessions with a stream that is being read.
        var heard: [UInt64: Session] = [:]
        var quiet = BoundedTable<UInt64, Session>(capacity: maxSessions, policy: .evictLeastRecentlyUsed)
        /// The bytes of the addresses that the others watch.
        var quietBytes = 0

        subscript(channelID: UInt64) -> Session? { heard[channelID] ?? quiet[channelID] }

        mutating func remove(_ channelID: UInt64) -> Session? {
            if let session = heard.removeValue(forKey: channelID) { return session }
            guard let session = quiet.remove(channelID) else { return nil }
            quietBytes -= session.uriBytes
            return session
        }

        /// Stores a session unless it is empty, and returns the sessions that were evicted to make room.
        mutating func keep(_ session: Session, at channelID: UInt64) -> [Session] {
            if session.isEmpty { return [] }
            if session.isHeard {
                heard[channelID] = session
                return []
            }
            quietBytes += session.uriBytes
            var evicted: [Session] = []
            if case .evicted(_, let forgotten) = quiet.insert(session, for: channelID) {
                evicted.append(forgotten)
                quietBytes -= forgotten.uriBytes
            }
            // Never the new one, which alone is smaller.
            while quietBytes > maxQuietBytes, let forgotten = quiet.removeOldest()?.value {
                evicted.append(forgotten)
                quietBytes -= forgotten.uriBytes
            }
            return evicted
        }
    }

    private let state = Mutex(State())
    private let lastWish = Atomic<Int>(0)
    private let bus: ChangeBus

    init(bus: ChangeBus) { self.bus = bus }

    /// Changes the state of a session, and subscribes it to the bus for as long as it has streams.
    private func change<R>(_ channelID: UInt64, _ body: (inout Session) -> R) -> R {
        state.withLock { state in
            var session = state.remove(channelID) ?? Session()
            let result = body(&session)
            // Under the lock, so that two streams that open at the same time share one subscriber.
            if session.streams.isEmpty, let subscriber = session.subscriber {
                session.subscriber = nil
                bus.remove(subscriber)
            } else if !session.streams.isEmpty, session.subscriber == nil {
                session.subscriber = bus.add(SessionSubscriber(channelID, self))
            }
            for subscriber in state.keep(session, at: channelID).compactMap(\.subscriber) {
                bus.remove(subscriber)
            }
            return result
        }
    }

    /// The bytes that a watched address counts.
    static func bytes(of uri: String) -> Int { uri.utf8.count + 64 }

    // MARK: Log levels

    func level(of channelID: UInt64) -> LoggingLevel {
        state.withLock { $0[channelID]?.level } ?? Self.unsetLevel
    }

    func set(_ level: LoggingLevel, for channelID: UInt64) {
        change(channelID) { $0.level = level }
    }

    // MARK: Resources

    /// Starts to watch a resource; returns false when the session already watches as much as it may.
    func watch(_ uri: String, _ reports: Registry.ChangeReports = .own, for channelID: UInt64) -> Bool {
        change(channelID) { $0.watch(uri, reports) }
    }

    /// Stops to watch a resource, and withdraws the wishes to watch it.
    func unwatch(_ uri: String, for channelID: UInt64) {
        let concerns = state.withLock { state in
            state[channelID].map { $0.uris.contains(uri) || $0.wishes.values.contains(uri) } ?? false
        }
        if concerns { change(channelID) { $0.unwatch(uri) } }
    }

    /// A request to watch a resource that has no answer yet.
    struct Wish: Sendable {
        let uri: String
        let channelID: UInt64
        fileprivate let number: Int
    }

    /// Records a wish, until `grant` or `drop`.
    func wish(_ uri: String, for channelID: UInt64) -> Wish {
        let number = lastWish.add(1, ordering: .relaxed).newValue
        change(channelID) { $0.wishes[number] = uri }
        return Wish(uri: uri, channelID: channelID, number: number)
    }

    /// Starts to watch a resource, unless the wish was withdrawn or the session has ended; returns false when
    /// the session already watches as much as it may.
    func grant(_ wish: Wish, _ reports: Registry.ChangeReports) -> Bool {
        change(wish.channelID) { session in
            guard session.wishes.removeValue(forKey: wish.number) != nil else { return true }
            return session.watch(wish.uri, reports)
        }
    }

    func drop(_ wish: Wish) {
        let isOpen = state.withLock { $0[wish.channelID]?.wishes[wish.number] != nil }
        if isOpen { change(wish.channelID) { $0.wishes[wish.number] = nil } }
    }

    func watches(_ uri: String, _ channelID: UInt64) -> Bool {
        state.withLock { $0[channelID]?.uris.contains(uri) ?? false }
    }

    /// Returns all resources that the session watches.
    func watched(_ channelID: UInt64) -> Set<String> { state.withLock { $0[channelID]?.uris ?? [] } }

    // MARK: Streams

    /// Attaches a stream for server messages, which becomes the newest one of its session.
    ///
    /// Streams without a reader are removed: what their clients missed is kept for them, and new messages
    /// go to this stream.
    func attach(_ stream: any SessionStream, to channelID: UInt64) {
        change(channelID) { session in
            session.streams.removeAll { $0 === stream || !$0.isLive }
            session.streams.append(stream)
        }
    }

    /// Handles a stream of the session that may have lost its reader: if the session has no other reader, it
    /// can be evicted from now on.
    func lostReader(_ channelID: UInt64) {
        change(channelID) { $0.streams.removeAll(where: \.isForgotten) }
    }

    /// Returns the number of streams of the session that are being read.
    func streamCount(_ channelID: UInt64) -> Int {
        state.withLock { $0[channelID]?.streams.count { $0.isLive } ?? 0 }
    }

    /// Removes a connection or session that has ended.
    func forget(_ channelID: UInt64) {
        let session = state.withLock { $0.remove(channelID) }
        if let subscriber = session?.subscriber { bus.remove(subscriber) }
        for stream in session?.streams ?? [] { stream.end() }
    }

    /// Sends a server message on exactly one stream of the session (LEG-16): the newest one that is being
    /// read, or else the newest one that a client may reconnect for. Drops the message when there is none.
    func send(_ message: @autoclosure () -> ByteSlice, to channelID: UInt64) {
        let streams = state.withLock { $0[channelID]?.streams ?? [] }
        guard let stream = streams.last(where: \.isLive) ?? streams.last(where: { !$0.isForgotten }) else {
            if !streams.isEmpty { change(channelID) { $0.streams.removeAll(where: \.isForgotten) } }
            return
        }
        stream.send(message())
    }
}

/// A subscriber that delivers changes to one session: list changes always, resource changes as the
/// session requested.
private final class SessionSubscriber: ChangeSubscriber {
    private let channelID: UInt64
    /// Weak: a delivery may be in progress while the server is released.
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
