/// The body of a response, either complete or produced while it is sent.
public struct HTTPBody: Sendable {
    enum Content: Sendable {
        case bytes([UInt8])
        case stream(AsyncStream<[UInt8]>)
        case events(AsyncStream<SSEEvent>)
        /// No body: the connection leaves HTTP.
        case upgrade(String, @Sendable (consuming UpgradedSocket) -> Void)
    }

    let content: Content

    /// Returns a complete body.
    public static func bytes(_ bytes: [UInt8]) -> HTTPBody { HTTPBody(content: .bytes(bytes)) }

    /// Returns a body that is produced in parts.
    public static func stream(_ stream: AsyncStream<[UInt8]>) -> HTTPBody {
        HTTPBody(content: .stream(stream))
    }

    /// The bytes of a complete body; nil for one that is produced while it is sent.
    public var bytes: [UInt8]? { if case .bytes(let bytes) = content { bytes } else { nil } }

    /// The parts in order; a complete body is one part, and so is each event.
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

/// A reader that encodes events one by one, on demand.
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
