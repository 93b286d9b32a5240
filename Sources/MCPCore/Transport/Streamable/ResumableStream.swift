import Synchronization

/// The events of one stream of a session, kept for a client that reconnects for them (2025-11-25
/// basic/transports "Resumability and Redelivery").
///
/// It outlives the connection on which it began: in a session, a disconnect is not a cancellation (LEG-09),
/// so events are still kept, and the connection that resumes the stream receives the events that were missed.
final class ResumableStream: SessionStream, SharedStream {
    private let counted = Counted(.sessionStream)

    private struct State {
        var log: ReplayLog
        var isEnded = false
        /// Whether no client may resume the stream any more.
        var isGone = false
        /// The time at which a client was last connected, or at which the last event arrived, for a stream
        /// that has a last event.
        var touchedAt: MonotonicInstant
        weak var writer: HTTPResponseStream?
        /// What waits until other instances can find the stream; nil once they can.
        ///
        /// A client that knows an id may ask any instance for what follows it.
        var held: [Step]?
    }

    /// Something that the writer does.
    private enum Step {
        case priming
        case event(Int, ByteSlice)
        case end
        case release(after: Int, Duration)
    }

    /// The limits on the events and bytes that are kept; older events are evicted.
    static let maxEvents = 256
    static let maxBytes = 1 << 20
    /// The time for which events wait for a client that is gone.
    static let age = Duration.seconds(300)

    /// The name of the stream in event ids; unique in its session.
    let name: String
    /// Whether the stream is for messages that belong to no request; otherwise, its last event
    /// is the response.
    let isOfServer: Bool
    /// The session of the stream.
    let channelID: UInt64
    private let state: Mutex<State>
    private let store: EventStore
    /// Where other instances find the events; nil without a store that they share.
    private let shared: SharedStreams?
    private let clock: any TimeSource

    init(
        name: String, isOfServer: Bool, channelID: UInt64, store: EventStore, shared: SharedStreams? = nil,
        clock: any TimeSource
    ) {
        self.name = name
        self.isOfServer = isOfServer
        self.channelID = channelID
        self.shared = shared
        self.store = store
        self.clock = clock
        let log = ReplayLog(name: name, maxEvents: Self.maxEvents, maxBytes: Self.maxBytes)
        state = Mutex(State(log: log, touchedAt: clock.now, held: shared.map { _ in [] }))
        shared?.begin(self)
    }

    deinit {
        let (bytes, isEnded) = state.withLock { ($0.log.bytes, $0.isEnded) }
        store.giveBack(bytes)
        if !isOfServer, !isEnded { shared?.callEnded() }
    }

    /// Returns the id of an event, which identifies the stream that the event belongs to (LEG-18).
    func id(of number: Int) -> String { "\(name)-\(number)" }

    /// Keeps an event, and sends it if the stream is being read.
    func append(_ data: ByteSlice, isLast: Bool = false) {
        // Copied: a slice would keep the whole buffer of its connection alive.
        let data = data.copy()
        store.take(data.count)
        state.withLock { state in
            // What is not kept cannot wait.
            if store.isFull || !state.log.hasRoom(for: data.count) { show(&state) }
            let number = state.log.append(data, isFull: { store.isFull }, drop: { store.giveBack($0) })
            take(.event(number, data), &state)
            if isLast { finish(&state) }
        }
        shared?.changed(self)
    }

    /// Lets the writer take a step, now or once other instances can find the stream.
    private func take(_ step: Step, _ state: inout State) {
        guard state.held == nil else { return state.held!.append(step) }
        // Under the lock, so that events are sent in order; the writer does its part on its own loop.
        switch step {
        case .priming: state.writer?.write(id(of: 0), ByteSlice())
        case .event(let number, let data): state.writer?.write(id(of: number), data)
        case .end: state.writer?.endStream()
        case .release(let number, let retry):
            state.writer?.endStream(after: id(of: number), retryAfter: retry)
            state.writer = nil
            state.touchedAt = clock.now
        }
    }

    private func show(_ state: inout State) {
        let steps = state.held ?? []
        state.held = nil
        for step in steps { take(step, &state) }
    }

    /// Returns false when the writer may write the id of the beginning now.
    func deferPriming() -> Bool {
        state.withLock { state in
            guard state.held != nil else { return false }
            take(.priming, &state)
            return true
        }
    }

    private func finish(_ state: inout State) {
        if !isOfServer, !state.isEnded { shared?.callEnded() }
        state.isEnded = true
        state.touchedAt = clock.now
        take(.end, &state)
    }

    // MARK: SessionStream

    var isLive: Bool { state.withLock { $0.writer != nil } }

    var isForgotten: Bool { isForgotten(at: clock.now) }

    func send(_ message: ByteSlice) { append(message) }

    /// Ends the stream: nothing more will come.
    func end() {
        state.withLock { finish(&$0) }
        shared?.changed(self)
    }

    // MARK: Other instances

    /// The state of the stream; nil when no client may resume it any more.
    var snapshot: SharedStreams.Snapshot? {
        state.withLock { state in
            guard !state.isGone else { return nil }
            return SharedStreams.Snapshot(
                events: state.log.events(after: 0).map(\.data), last: state.log.last, isEnded: state.isEnded)
        }
    }

    /// Notes that other instances can find the stream, or that the store has failed.
    func wasStored() { state.withLock { show(&$0) } }

    /// Removes the stream for other instances: this one has evicted it, or its session has ended.
    func forget() {
        state.withLock { $0.isGone = true }
        shared?.changed(self)
    }

    // MARK: Writers

    func attach(_ writer: HTTPResponseStream) { state.withLock { $0.writer = writer } }

    func detach(_ writer: HTTPResponseStream) {
        state.withLock { state in
            guard state.writer === writer else { return }
            state.writer = nil
            state.touchedAt = clock.now
        }
    }

    /// Disconnects the client for a while; events that arrive in the meantime are kept (LEG-07).
    func release(retryAfter retry: Duration) {
        state.withLock { take(.release(after: $0.log.last, retry), &$0) }
    }

    /// Returns the events after `number`, for the writer that now resumes the stream; nil when some of them
    /// are gone. The previous writer has nothing more to write.
    func takeUp(after number: Int, by writer: HTTPResponseStream) -> (
        events: [ReplayLog.Event], isEnded: Bool
    )? {
        state.withLock { state in
            guard state.log.isComplete(after: number) else { return nil }
            state.held = nil
            state.writer?.endStream()
            state.writer = writer
            state.touchedAt = clock.now
            return (state.log.events(after: number), state.isEnded)
        }
    }

    /// Returns whether no client will come for the stream any more. A call that continues keeps its stream.
    func isForgotten(at now: MonotonicInstant) -> Bool {
        state.withLock { state in
            state.writer == nil && (isOfServer || state.isEnded) && now - state.touchedAt > Self.age
        }
    }
}

/// A counter of the bytes that all streams of a listener keep.
final class EventStore: Sendable {
    /// The limit beyond which a stream keeps no new events.
    static let maxBytes = 64 << 20

    private let bytes = Atomic<Int>(0)

    var isFull: Bool { bytes.load(ordering: .relaxed) > Self.maxBytes }
    func take(_ count: Int) { bytes.add(count, ordering: .relaxed) }
    func giveBack(_ count: Int) { bytes.subtract(count, ordering: .relaxed) }
}
