import MCPCore

/// The events of one page in their order, with those that it may have missed.
///
/// An id is `PAGE-NUMBER`: one of another page cannot be gone on with.
struct EventLog: Sendable {
    /// Names the page that these events are for.
    let page: String
    private var last = 0
    private var kept: [(number: Int, data: ByteSlice)] = []
    private var keptBytes = 0
    private var reader: AsyncStream<SSEEvent>.Continuation?

    /// Events that are kept for a page that comes back: 4,096, and 32 MiB; a page that missed more begins
    /// anew.
    static let maxEvents = 4_096
    static let maxBytes = 32 << 20
    /// Events that a reader may be behind; one more ends its stream, and it comes back.
    static let maxBehind = 8_192

    init(page: String) { self.page = page }

    mutating func append(_ event: JSONValue) {
        last += 1
        let data = RawJSON(event).bytes
        kept.append((last, data))
        keptBytes += data.count
        var tooMany = 0
        while kept.count - tooMany > Self.maxEvents || keptBytes > Self.maxBytes && tooMany < kept.count - 1 {
            keptBytes -= kept[tooMany].data.count
            tooMany += 1
        }
        kept.removeFirst(tooMany)
        send(last, data)
    }

    private mutating func send(_ number: Int, _ data: ByteSlice) {
        guard let reader else { return }
        if case .dropped = reader.yield(SSEEvent(data: data, id: "\(page)-\(number)")) {
            reader.finish()
            self.reader = nil
        }
    }

    /// Goes on behind the event of this id, for a reader in place of the one before. Nil: what came after it
    /// is not kept, or it is of another page.
    mutating func resume(after id: String) -> AsyncStream<SSEEvent>? {
        let parts = id.split(separator: "-")
        guard parts.count == 2, parts[0] == page, let seen = Int(parts[1]), seen <= last,
            seen >= last - kept.count
        else { return nil }
        return read(after: seen)
    }

    /// The events that are kept behind a number, and all that come. Begin with it: its reader gets every
    /// event, however many come at once.
    mutating func read(after seen: Int = 0) -> AsyncStream<SSEEvent> {
        reader?.finish()
        let (stream, continuation) = AsyncStream.makeStream(
            of: SSEEvent.self, bufferingPolicy: .bufferingOldest(Self.maxBehind))
        reader = continuation
        for event in kept where event.number > seen { send(event.number, event.data) }
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
