public import MCPCore

/// The connection between a host and the frame of one view.
public protocol AppBridgeTransport: Sendable {
    /// The messages from the frame, in order. Read it only once. It ends when the frame is gone.
    var incoming: AsyncStream<JSONValue> { get }
    /// Sends a message to the frame, in the order of the calls, without waiting.
    func send(_ message: JSONValue)
    /// Removes the frame. `incoming` ends.
    func close()
}

/// One end of a connection inside this process: for tests, and for views that are written in Swift.
///
/// Up to 1,024 unread messages are kept; further ones are dropped.
public final class InMemoryAppTransport: AppBridgeTransport {
    static let capacity = 1_024

    /// The messages from the other end.
    public let incoming: AsyncStream<JSONValue>
    private let mine: AsyncStream<JSONValue>.Continuation
    private let other: AsyncStream<JSONValue>.Continuation

    private init(
        _ incoming: AsyncStream<JSONValue>, mine: AsyncStream<JSONValue>.Continuation,
        other: AsyncStream<JSONValue>.Continuation
    ) {
        self.incoming = incoming
        self.mine = mine
        self.other = other
    }

    /// Returns both ends of a connection; each receives what the other sends.
    public static func makePair() -> (host: InMemoryAppTransport, view: InMemoryAppTransport) {
        let policy = AsyncStream<JSONValue>.Continuation.BufferingPolicy.bufferingOldest(capacity)
        let toHost = AsyncStream.makeStream(of: JSONValue.self, bufferingPolicy: policy)
        let toView = AsyncStream.makeStream(of: JSONValue.self, bufferingPolicy: policy)
        return (
            InMemoryAppTransport(toHost.stream, mine: toHost.continuation, other: toView.continuation),
            InMemoryAppTransport(toView.stream, mine: toView.continuation, other: toHost.continuation)
        )
    }

    /// Sends a message to the other end.
    public func send(_ message: JSONValue) { other.yield(message) }

    /// Ends both directions.
    public func close() {
        mine.finish()
        other.finish()
    }
}
