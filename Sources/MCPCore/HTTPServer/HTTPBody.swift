/// The body of a response: known at once, or made while it is sent.
public struct HTTPBody: Sendable {
    enum Content: Sendable {
        case bytes([UInt8])
        case stream(AsyncStream<[UInt8]>)
        case events(AsyncStream<SSEEvent>)
        /// No body: the connection leaves HTTP.
        case upgrade(String, @Sendable (consuming UpgradedSocket) -> Void)
    }

    let content: Content

    /// A body that is complete.
    public static func bytes(_ bytes: [UInt8]) -> HTTPBody { HTTPBody(content: .bytes(bytes)) }

    /// A body that comes in parts.
    public static func stream(_ stream: AsyncStream<[UInt8]>) -> HTTPBody {
        HTTPBody(content: .stream(stream))
    }

    /// The bytes of a complete body; nil for one that is made while it is sent.
    public var bytes: [UInt8]? { if case .bytes(let bytes) = content { bytes } else { nil } }

    /// The parts in order; a complete body is one part, an event is one.
    public var parts: AsyncStream<[UInt8]> {
        switch content {
        case .stream(let stream): return stream
        case .events(let events):
            let reader = EventReader(events)
            return AsyncStream { await reader.next() }
        case .upgrade: return HTTPBody.bytes([]).parts
        case .bytes(let bytes):
            return AsyncStream(bufferingPolicy: .bufferingOldest(1)) { continuation in
                if !bytes.isEmpty { continuation.yield(bytes) }
                continuation.finish()
            }
        }
    }
}

/// Encodes events one by one, when they are asked for.
private actor EventReader {
    private var events: AsyncStream<SSEEvent>.AsyncIterator?

    init(_ events: AsyncStream<SSEEvent>) { self.events = events.makeAsyncIterator() }

    func next() async -> [UInt8]? {
        guard var iterator = events.take() else { return nil }
        let event = await iterator.next(isolation: self)
        events = iterator
        guard let event else { return nil }
        return SSEEncoder.bytes(of: event)
    }
}
