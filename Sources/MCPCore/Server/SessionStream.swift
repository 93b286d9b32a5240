/// A path for server messages to a client of the handshake revisions, separate from the responses
/// to its requests.
protocol SessionStream: AnyObject, Sendable {
    /// Whether the stream is being read now.
    var isLive: Bool { get }
    /// Whether the stream is not being read and no client will reconnect for it any more.
    var isForgotten: Bool { get }
    /// Sends a message, or keeps it for a client that reconnects.
    func send(_ message: ByteSlice)
    /// Ends the stream, because its session has ended.
    func end()
}

/// A stream that lasts as long as its connection: a pipe, or a program's own transport.
final class ConnectionStream: SessionStream {
    private let sender: @Sendable (ByteSlice) -> Void

    init(_ sender: @escaping @Sendable (ByteSlice) -> Void) { self.sender = sender }

    var isLive: Bool { true }
    var isForgotten: Bool { false }
    func send(_ message: ByteSlice) { sender(message) }
    func end() {}
}
