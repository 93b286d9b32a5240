import Synchronization

/// The events of one stream of a session, kept for a client that comes back for them (2025-11-25
/// basic/transports "Resumability and Redelivery").
///
/// It outlives the connection that it began on: a disconnect is no cancel in a session (LEG-09), so events
/// go on being kept, and the connection that takes the stream up again gets what it missed.
final class ResumableStream: SessionStream {
    private let counted = Counted(.sessionStream)

    private struct State {
        var log: ReplayLog
        var isEnded = false
        /// When a client was last there, or the last event came of a stream that has one.
        var touchedAt: MonotonicInstant
        weak var writer: HTTPResponseStream?
    }

    /// Events and bytes that are kept; older ones make room.
    static let maxEvents = 256
    static let maxBytes = 1 << 20
    /// How long events wait for a client that is gone.
    static let age = Duration.seconds(300)

    /// Names the stream in event ids: unique in its session.
    let name: String
    /// For messages that belong to no request; else the answer is its last event.
    let isOfServer: Bool
    private let state: Mutex<State>
    private let store: EventStore
    private let clock: any TimeSource

    init(name: String, isOfServer: Bool, store: EventStore, clock: any TimeSource) {
        self.name = name
        self.isOfServer = isOfServer
        self.store = store
        self.clock = clock
        let log = ReplayLog(name: name, maxEvents: Self.maxEvents, maxBytes: Self.maxBytes)
        state = Mutex(State(log: log, touchedAt: clock.now))
    }

    deinit { store.giveBack(state.withLock { $0.log.bytes }) }

    /// The id of an event, which says which stream it belongs to (LEG-18).
    func id(of number: Int) -> String { "\(name)-\(number)" }

    /// Keeps an event, and sends it when somebody reads the stream.
    func append(_ data: ByteSlice, isLast: Bool = false) {
        // Copied: a slice would keep the whole buffer of its connection alive.
        let data = data.copy()
        store.take(data.count)
        state.withLock { state in
            let number = state.log.append(data, isFull: { store.isFull }, drop: { store.giveBack($0) })
            // Under the lock, so that events leave in their order; the writer does its part on its own loop.
            state.writer?.write(id(of: number), data)
            if isLast { finish(&state) }
        }
    }

    private func finish(_ state: inout State) {
        state.isEnded = true
        state.touchedAt = clock.now
        state.writer?.endStream()
    }

    // MARK: SessionStream

    var isLive: Bool { state.withLock { $0.writer != nil } }

    var isForgotten: Bool { isForgotten(at: clock.now) }

    func send(_ message: ByteSlice) { append(message) }

    /// Nothing more will come.
    func end() { state.withLock { finish(&$0) } }

    // MARK: Writers

    func attach(_ writer: HTTPResponseStream) { state.withLock { $0.writer = writer } }

    func detach(_ writer: HTTPResponseStream) {
        state.withLock { state in
            guard state.writer === writer else { return }
            state.writer = nil
            state.touchedAt = clock.now
        }
    }

    /// Sends the client away for a while; what comes in the meantime is kept (LEG-07).
    func release(retryAfter retry: Duration) {
        state.withLock { state in
            state.writer?.endStream(after: id(of: state.log.last), retryAfter: retry)
            state.writer = nil
            state.touchedAt = clock.now
        }
    }

    /// What came after an event, for the writer that takes the stream up now; nil when some of it is gone.
    /// Who wrote it before has nothing more to write.
    func takeUp(after number: Int, by writer: HTTPResponseStream) -> (
        events: [ReplayLog.Event], isEnded: Bool
    )? {
        state.withLock { state in
            guard state.log.isComplete(after: number) else { return nil }
            state.writer?.endStream()
            state.writer = writer
            state.touchedAt = clock.now
            return (state.log.events(after: number), state.isEnded)
        }
    }

    /// Whether nobody will come for it any more. A call that goes on keeps its stream.
    func isForgotten(at now: MonotonicInstant) -> Bool {
        state.withLock { state in
            state.writer == nil && (isOfServer || state.isEnded) && now - state.touchedAt > Self.age
        }
    }
}

/// Counts the bytes that all streams of a listener keep.
final class EventStore: Sendable {
    /// When they are more, a stream keeps nothing that comes.
    static let maxBytes = 64 << 20

    private let bytes = Atomic<Int>(0)

    var isFull: Bool { bytes.load(ordering: .relaxed) > Self.maxBytes }
    func take(_ count: Int) { bytes.add(count, ordering: .relaxed) }
    func giveBack(_ count: Int) { bytes.subtract(count, ordering: .relaxed) }
}
