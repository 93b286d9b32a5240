import Synchronization

/// The event streams of the sessions of one endpoint.
final class SessionStreams: Sendable {
    /// Streams that one session has at a time; the oldest that are over make room.
    static let maxPerSession = 64
    /// Sessions whose streams are kept; those that opened one the longest ago make room.
    static let maxSessions = 10_000
    /// Streams for messages of the server that one session may open.
    static let maxServerStreams = 4
    /// Between two looks for streams that nobody will come for.
    private static let sweepInterval = Duration.seconds(60)

    private struct State {
        var sessions = BoundedTable<UInt64, [ResumableStream]>(
            capacity: maxSessions, policy: .evictLeastRecentlyUsed)
        var sweptAt: MonotonicInstant
    }

    private let state: Mutex<State>
    let store: EventStore
    private let clock: any TimeSource

    /// - Parameter store: shared with other endpoints.
    init(clock: any TimeSource, store: EventStore = EventStore()) {
        self.clock = clock
        self.store = store
        state = Mutex(State(sweptAt: clock.now))
    }

    /// A new stream of a session.
    func make(_ channelID: UInt64, isOfServer: Bool) -> ResumableStream {
        // Unguessable is not needed inside a session, but unique after a restart as well.
        let stream = ResumableStream(
            name: Hex.encode(SystemRandom().bytes(6)), isOfServer: isOfServer, store: store, clock: clock)
        let now = clock.now
        // They end outside of the lock.
        let forgotten = state.withLock { state in
            var forgotten = Self.sweep(&state, now)
            let known: Void? = state.sessions.update(channelID) { streams in
                streams.append(stream)
                guard streams.count > Self.maxPerSession else { return }
                forgotten.append(streams.remove(at: streams.firstIndex { !$0.isLive } ?? 0))
            }
            if known == nil, case .evicted(_, let streams) = state.sessions.insert([stream], for: channelID) {
                forgotten += streams
            }
            return forgotten
        }
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

    /// The stream that an event id names, and the number of the event; nil for an id of another session,
    /// and for one whose stream is forgotten (LEG-20).
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
        // They end outside of the lock.
        let forgotten = state.withLock { $0.sessions.remove(channelID) }
        _ = consume forgotten
    }
}
