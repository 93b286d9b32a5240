import Synchronization

/// The event streams of the sessions of one endpoint.
final class SessionStreams: Sendable {
    /// Streams that one session has at a time; the oldest that are over make room.
    static let maximumPerSession = 64
    /// Sessions whose streams are kept.
    static let maximumSessions = 10_000
    /// Streams for messages of the server that one session may open.
    static let maximumServerStreams = 4
    /// Between two looks for streams that nobody will come for.
    private static let sweepInterval = Duration.seconds(60)

    private struct State {
        var sessions: [UInt64: [ResumableStream]] = [:]
        var order: [UInt64] = []
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
    func make(_ scope: UInt64, isOfServer: Bool) -> ResumableStream {
        // Unguessable is not needed inside a session, but unique after a restart as well.
        let stream = ResumableStream(
            name: Hex.encode(SystemRandom().bytes(6)), isOfServer: isOfServer, store: store, clock: clock)
        let now = clock.now
        // They end outside of the lock.
        let forgotten = state.withLock { state in
            let forgotten = Self.sweep(&state, now)
            if state.sessions[scope] == nil {
                state.order.append(scope)
                while state.order.count > Self.maximumSessions {
                    state.sessions[state.order.removeFirst()] = nil
                }
            }
            var streams = state.sessions[scope] ?? []
            streams.append(stream)
            if streams.count > Self.maximumPerSession {
                streams.remove(at: streams.firstIndex { !$0.isLive } ?? 0)
            }
            state.sessions[scope] = streams
            return forgotten
        }
        _ = consume forgotten
        return stream
    }

    private static func sweep(_ state: inout State, _ now: MonotonicInstant) -> [ResumableStream] {
        guard now - state.sweptAt > sweepInterval else { return [] }
        state.sweptAt = now
        var forgotten: [ResumableStream] = []
        state.sessions = state.sessions.compactMapValues { streams in
            forgotten += streams.filter { $0.isForgotten(at: now) }
            let rest = streams.filter { !$0.isForgotten(at: now) }
            return rest.isEmpty ? nil : rest
        }
        state.order.removeAll { state.sessions[$0] == nil }
        return forgotten
    }

    /// The stream that an event id names, and the number of the event; nil for an id of another session,
    /// and for one whose stream is forgotten (LEG-20).
    func find(_ eventID: ByteSlice, in scope: UInt64) -> (stream: ResumableStream, number: Int)? {
        guard eventID.count <= 64 else { return nil }
        let parts = String(eventID).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = Int(parts[1])
        else { return nil }
        let now = clock.now
        let stream = state.withLock { $0.sessions[scope]?.first { $0.name == parts[0] } }
        guard let stream, !stream.isForgotten(at: now) else { return nil }
        return (stream, number)
    }

    func forget(_ scope: UInt64) {
        state.withLock { state in
            if state.sessions.removeValue(forKey: scope) != nil { state.order.removeAll { $0 == scope } }
        }
    }
}
