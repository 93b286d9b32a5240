public import MCPCore

/// The way between a host and the frame of one view.
public protocol AppBridgeTransport: Sendable {
    /// What the frame says, in order. Read once. It ends when the frame is gone.
    var incoming: AsyncStream<JSONValue> { get }
    /// Sends a message to the frame, in the order of the calls, without waiting.
    func send(_ message: JSONValue)
    /// Removes the frame. `incoming` ends.
    func close()
}

/// One end of a way inside this process: for tests, and for views that are Swift.
///
/// What is not read is kept up to 1,024 messages; further ones are dropped.
public final class InMemoryAppTransport: AppBridgeTransport {
    static let capacity = 1_024

    /// What the other end sends.
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

    /// Both ends: what one sends, the other hears.
    public static func makePair() -> (host: InMemoryAppTransport, view: InMemoryAppTransport) {
        let policy = AsyncStream<JSONValue>.Continuation.BufferingPolicy.bufferingOldest(capacity)
        let toHost = AsyncStream.makeStream(of: JSONValue.self, bufferingPolicy: policy)
        let toView = AsyncStream.makeStream(of: JSONValue.self, bufferingPolicy: policy)
        return (
            InMemoryAppTransport(toHost.stream, mine: toHost.continuation, other: toView.continuation),
            InMemoryAppTransport(toView.stream, mine: toView.continuation, other: toHost.continuation)
        )
    }

    /// Gives a message to the other end.
    public func send(_ message: JSONValue) { other.yield(message) }

    /// Ends both directions.
    public func close() {
        mine.finish()
        other.finish()
    }
}
