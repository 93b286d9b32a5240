import MCPCore

/// The events of one page in order, including those that it may have missed.
///
/// An id is `PAGE-NUMBER`: a page cannot resume from the id of another page.
struct EventLog: Sendable {
    /// The log, which has the name of the page.
    private var log: ReplayLog
    private var reader: AsyncStream<SSEEvent>.Continuation?

    /// The limits of the events kept for a page that reconnects: 4,096 events and 32 MiB. A page that missed
    /// more starts over.
    static let maxEvents = 4_096
    static let maxBytes = 32 << 20
    /// The number of events that a reader may fall behind; one more ends its stream, and it reconnects.
    static let maxBehind = 8_192

    init(page: String) { log = ReplayLog(name: page, maxEvents: Self.maxEvents, maxBytes: Self.maxBytes) }

    /// The name of the page that these events are for.
    var page: String { log.name }

    mutating func append(_ event: JSONValue) {
        let data = RawJSON(event).bytes
        send(log.append(data), data)
    }

    private mutating func send(_ number: Int, _ data: ByteSlice) {
        guard let reader else { return }
        if case .dropped = reader.yield(SSEEvent(data: data, id: log.id(of: number))) {
            reader.finish()
            self.reader = nil
        }
    }

    /// Resumes after the event with this id, for a reader that replaces the previous one.
    ///
    /// - Returns: nil when the events after it are no longer kept, or when the id belongs to another page.
    mutating func resume(after id: String) -> AsyncStream<SSEEvent>? {
        guard let seen = log.number(of: id), log.isComplete(after: seen) else { return nil }
        return read(after: seen)
    }

    /// Returns the events kept after a number, followed by all new ones.
    ///
    /// Call it before events are appended: its reader then receives every event, however many arrive at once.
    mutating func read(after seen: Int = 0) -> AsyncStream<SSEEvent> {
        reader?.finish()
        let (stream, continuation) = AsyncStream.makeStream(
            of: SSEEvent.self, bufferingPolicy: .bufferingOldest(Self.maxBehind))
        reader = continuation
        for event in log.events(after: seen) { send(event.number, event.data) }
        return stream
    }

    /// Ends the stream of the page, which then reconnects.
    mutating func cutOff() {
        reader?.finish()
        reader = nil
    }

    /// Notifies the page that another one has taken over.
    mutating func end() {
        append(["type": "replaced"])
        reader?.finish()
        reader = nil
    }
}
