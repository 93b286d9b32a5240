import Synchronization

/// The event streams of the sessions of one endpoint.
final class SessionStreams: Sendable {
    /// The maximum number of streams that one session has at a time; the oldest one that is not
    /// read is evicted.
    static let maxPerSession = 64
    /// The maximum number of sessions whose streams are kept; the session that opened a stream the
    /// longest ago is evicted.
    static let maxSessions = 10_000
    /// The maximum number of streams for server messages that one session may open.
    static let maxServerStreams = 4
    /// The interval between two searches for streams that no client will come for.
    private static let sweepInterval = Duration.seconds(60)

    private struct State {
        var sessions = BoundedTable<UInt64, [ResumableStream]>(
            capacity: maxSessions, policy: .evictLeastRecentlyUsed)
        var sweptAt: MonotonicInstant
    }

    private let state: Mutex<State>
    let store: EventStore
    /// Nil without a store that other instances share.
    private let shared: SharedStreams?
    private let clock: any TimeSource

    /// - Parameters:
    ///   - store: shared with other endpoints.
    ///   - shared: see the property.
    init(clock: any TimeSource, store: EventStore = EventStore(), shared: SharedStreams? = nil) {
        self.clock = clock
        self.store = store
        self.shared = shared
        state = Mutex(State(sweptAt: clock.now))
    }

    /// Creates a new stream of a session.
    func make(_ channelID: UInt64, isOfServer: Bool) -> ResumableStream {
        // Inside a session, the name need not be unguessable, but it must be unique even after a restart.
        let stream = ResumableStream(
            name: Hex.encode(SystemRandom().bytes(6)), isOfServer: isOfServer, channelID: channelID,
            store: store, shared: shared, clock: clock)
        let now = clock.now
        // Released outside of the lock.
        let (forgotten, evicted) = state.withLock { state in
            let forgotten = Self.sweep(&state, now)
            var evicted: [ResumableStream] = []
            let known: Void? = state.sessions.update(channelID) { streams in
                streams.append(stream)
                guard streams.count > Self.maxPerSession else { return }
                evicted.append(streams.remove(at: streams.firstIndex { !$0.isLive } ?? 0))
            }
            if known == nil, case .evicted(_, let streams) = state.sessions.insert([stream], for: channelID) {
                evicted += streams
            }
            return (forgotten, evicted)
        }
        for stream in evicted { stream.forget() }
        _ = consume forgotten
        return stream
    }

    private static func sweep(_ state: inout State, _ now: MonotonicInstant) -> [ResumableStream] {
        guard now - state.sweptAt > sweepInterval else { return [] }
        state.sweptAt = now
        var forgotten: [ResumableStream] = []
        for (channelID, streams) in state.sessions {
            let rest = streams.filter { !$0.isForgotten(at: now) }
            guard rest.count < streams.count else { continue }
            forgotten += streams.filter { $0.isForgotten(at: now) }
            if rest.isEmpty {
                state.sessions.remove(channelID)
            } else {
                state.sessions.replace(rest, for: channelID)
            }
        }
        return forgotten
    }

    /// Returns the stream that an event id names, and the number of the event; nil for an id of another
    /// session, and for one whose stream is forgotten (LEG-20).
    func find(_ eventID: ByteSlice, in channelID: UInt64) -> (stream: ResumableStream, number: Int)? {
        guard eventID.count <= 64, let (name, number) = ReplayLog.parts(of: String(eventID)) else {
            return nil
        }
        let now = clock.now
        let stream = state.withLock { $0.sessions[channelID]?.first { $0.name == name } }
        guard let stream, !stream.isForgotten(at: now) else { return nil }
        return (stream, number)
    }

    func forget(_ channelID: UInt64) {
        // Released outside of the lock.
        let forgotten = state.withLock { $0.sessions.remove(channelID) }
        for stream in forgotten ?? [] { stream.forget() }
    }
}
