import Synchronization

/// The events of one stream of a session, kept for a client that comes back for them (2025-11-25
/// basic/transports "Resumability and Redelivery").
///
/// It outlives the connection that it began on: a disconnect is no cancel in a session (LEG-09), so events
/// go on being kept, and the connection that takes the stream up again gets what it missed.
final class ResumableStream: Sendable {
    struct Event: Sendable {
        let number: Int
        let data: ByteSlice
    }

    private struct State {
        var events: [Event] = []
        var next = 1
        var bytes = 0
        /// The number of the last event that was dropped for want of room.
        var dropped = 0
        var isEnded = false
        var touchedAt: MonotonicInstant
        weak var writer: HTTPExchange?
    }

    /// Events and bytes that are kept; older ones make room.
    static let maximumEvents = 256
    static let maximumBytes = 1 << 20

    /// Names the stream in event ids: unique in its session.
    let name: String
    private let state: Mutex<State>
    private let clock: any TimeSource

    init(name: String, clock: any TimeSource) {
        self.name = name
        self.clock = clock
        state = Mutex(State(touchedAt: clock.now))
    }

    /// The id of an event, which says which stream it belongs to (LEG-18).
    func id(of number: Int) -> String { "\(name)-\(number)" }

    /// Keeps an event and returns its number, and who writes it now.
    func append(_ data: ByteSlice, isLast: Bool) -> (number: Int, writer: HTTPExchange?) {
        // Copied: a slice would keep the whole buffer of its connection alive.
        let data = ByteSlice(Array(data))
        return state.withLock { state in
            let number = state.next
            state.next += 1
            state.events.append(Event(number: number, data: data))
            state.bytes += data.count
            while state.events.count > 1,
                state.events.count > Self.maximumEvents || state.bytes > Self.maximumBytes
            {
                let first = state.events.removeFirst()
                state.bytes -= first.data.count
                state.dropped = first.number
            }
            state.isEnded = state.isEnded || isLast
            state.touchedAt = clock.now
            return (number, state.writer)
        }
    }

    var currentWriter: HTTPExchange? { state.withLock { $0.writer } }

    /// The number of the newest event; 0 before the first.
    var lastNumber: Int { state.withLock { $0.next - 1 } }

    func attach(_ writer: HTTPExchange) { state.withLock { $0.writer = writer } }

    func detach(_ writer: HTTPExchange) {
        state.withLock { state in
            if state.writer === writer { state.writer = nil }
            state.touchedAt = clock.now
        }
    }

    /// What came after an event, for the writer that takes the stream up now; nil when some of it is gone.
    func takeUp(after number: Int, by writer: HTTPExchange) -> (events: [Event], isEnded: Bool)? {
        state.withLock { state in
            guard number >= state.dropped, number < state.next else { return nil }
            state.writer = writer
            state.touchedAt = clock.now
            return (state.events.filter { $0.number > number }, state.isEnded)
        }
    }

    /// Whether nobody will come for it any more.
    func isForgotten(at now: MonotonicInstant, after age: Duration) -> Bool {
        state.withLock { $0.writer == nil && now - $0.touchedAt > age }
    }
}
