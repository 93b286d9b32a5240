/// The body of an answer: known at once, or made while it is sent.
public struct HTTPBody: Sendable {
    enum Content: Sendable {
        case bytes([UInt8])
        case stream(AsyncStream<[UInt8]>)
    }

    let content: Content

    /// A body that is complete.
    public static func bytes(_ bytes: [UInt8]) -> HTTPBody { HTTPBody(content: .bytes(bytes)) }

    /// A body that comes in parts, as server-sent events do.
    public static func stream(_ stream: AsyncStream<[UInt8]>) -> HTTPBody {
        HTTPBody(content: .stream(stream))
    }

    /// The bytes of a complete body; nil for a stream.
    public var bytes: [UInt8]? { if case .bytes(let bytes) = content { bytes } else { nil } }

    /// The parts in order; a complete body is one part.
    public var parts: AsyncStream<[UInt8]> {
        switch content {
        case .stream(let stream): return stream
        case .bytes(let bytes):
            return AsyncStream(bufferingPolicy: .bufferingOldest(1)) { continuation in
                if !bytes.isEmpty { continuation.yield(bytes) }
                continuation.finish()
            }
        }
    }
}
