/// A way for messages of the server to a client of the handshake revisions, beside the answers to its
/// requests.
protocol SessionStream: AnyObject, Sendable {
    /// Whether somebody reads it now.
    var isLive: Bool { get }
    /// Whether nobody reads it and nobody will come back for it any more.
    var isForgotten: Bool { get }
    /// Sends a message, or keeps it for a client that comes back.
    func send(_ message: ByteSlice)
    /// The session is over.
    func end()
}

/// A stream that is as long as its connection: a pipe, or a program's own transport.
final class ConnectionStream: SessionStream {
    private let sender: @Sendable (ByteSlice) -> Void

    init(_ sender: @escaping @Sendable (ByteSlice) -> Void) { self.sender = sender }

    var isLive: Bool { true }
    var isForgotten: Bool { false }
    func send(_ message: ByteSlice) { sender(message) }
    func end() {}
}
