import MCPCore

/// The events of one page in their order, with those that it may have missed.
///
/// An id is `PAGE-NUMBER`: one of another page cannot be gone on with.
struct EventLog: Sendable {
    /// Its name is that of the page.
    private var log: ReplayLog
    private var reader: AsyncStream<SSEEvent>.Continuation?

    /// Events that are kept for a page that comes back: 4,096, and 32 MiB; a page that missed more begins
    /// anew.
    static let maxEvents = 4_096
    static let maxBytes = 32 << 20
    /// Events that a reader may be behind; one more ends its stream, and it comes back.
    static let maxBehind = 8_192

    init(page: String) { log = ReplayLog(name: page, maxEvents: Self.maxEvents, maxBytes: Self.maxBytes) }

    /// Names the page that these events are for.
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

    /// Goes on behind the event of this id, for a reader in place of the one before. Nil: what came after it
    /// is not kept, or it is of another page.
    mutating func resume(after id: String) -> AsyncStream<SSEEvent>? {
        guard let seen = log.number(of: id), log.isComplete(after: seen) else { return nil }
        return read(after: seen)
    }

    /// The events that are kept behind a number, and all that come. Begin with it: its reader gets every
    /// event, however many come at once.
    mutating func read(after seen: Int = 0) -> AsyncStream<SSEEvent> {
        reader?.finish()
        let (stream, continuation) = AsyncStream.makeStream(
            of: SSEEvent.self, bufferingPolicy: .bufferingOldest(Self.maxBehind))
        reader = continuation
        for event in log.events(after: seen) { send(event.number, event.data) }
        return stream
    }

    /// Ends the stream of the page, which comes back.
    mutating func cutOff() {
        reader?.finish()
        reader = nil
    }

    /// Tells the page that another one took over.
    mutating func end() {
        append(["type": "replaced"])
        reader?.finish()
        reader = nil
    }
}
