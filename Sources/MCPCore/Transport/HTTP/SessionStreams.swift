import Synchronization

/// The event streams of the sessions of one endpoint.
final class SessionStreams: Sendable {
    /// How long the events of a stream wait for a client that is gone.
    static let age = Duration.seconds(300)
    /// Streams that one session has at a time; the oldest make room.
    static let maximumPerSession = 64
    /// Sessions whose streams are kept.
    static let maximumSessions = 10_000
    /// Streams for messages of the server that one session may open.
    static let maximumServerStreams = 4

    private struct State {
        var sessions: [UInt64: [ResumableStream]] = [:]
        var order: [UInt64] = []
    }

    private let state = Mutex(State())
    private let clock: any TimeSource

    init(clock: any TimeSource) { self.clock = clock }

    /// A new stream of a session.
    func make(_ scope: UInt64) -> ResumableStream {
        // Unguessable is not needed inside a session, but unique after a restart as well.
        let stream = ResumableStream(name: Hex.encode(SystemRandom().bytes(6)), clock: clock)
        let now = clock.now
        state.withLock { state in
            if state.sessions[scope] == nil {
                state.order.append(scope)
                while state.order.count > Self.maximumSessions {
                    state.sessions[state.order.removeFirst()] = nil
                }
            }
            var streams = state.sessions[scope] ?? []
            streams.removeAll { $0.isForgotten(at: now, after: Self.age) }
            streams.append(stream)
            if streams.count > Self.maximumPerSession { streams.removeFirst() }
            state.sessions[scope] = streams
        }
        return stream
    }

    /// The stream that an event id names, and the number of the event; nil for an id of another session,
    /// and for one whose stream is forgotten (LEG-20).
    func find(_ eventID: ByteSlice, in scope: UInt64) -> (stream: ResumableStream, number: Int)? {
        guard eventID.count <= 64 else { return nil }
        let parts = String(eventID).split(separator: "-")
        guard parts.count == 2, let number = Int(parts[1]), number >= 0 else { return nil }
        let now = clock.now
        let stream = state.withLock { $0.sessions[scope]?.first { $0.name == parts[0] } }
        guard let stream, !stream.isForgotten(at: now, after: Self.age) else { return nil }
        return (stream, number)
    }

    func forget(_ scope: UInt64) {
        state.withLock { state in
            if state.sessions.removeValue(forKey: scope) != nil { state.order.removeAll { $0 == scope } }
        }
    }
}
