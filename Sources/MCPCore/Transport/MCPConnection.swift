import Synchronization

extension MCPServer {
    /// Serves one message that your own transport received, and returns the response to send.
    ///
    /// For transports that carry one JSON-RPC message at a time, such as a line or a frame. Notifications
    /// that belong to the request, such as progress, are dropped, and the handshake revisions need a
    /// connection that remembers `initialize`. To support both, create an `MCPConnection` for each client.
    ///
    /// - Returns: one JSON-RPC message, or nil when the message requires no response.
    public func handle(_ bytes: [UInt8]) async -> [UInt8]? {
        await makeConnection().handle(bytes)
    }

    /// Creates a client's connection over a transport of your own: it remembers the handshake, and its
    /// requests can be cancelled.
    ///
    /// - Parameter notify: receives the messages that belong to requests in flight: progress, log messages,
    ///   and, in the handshake revisions, server requests, whose responses are passed to `handle`. Without
    ///   it, handlers cannot ask such a client anything.
    public func makeConnection(notify: (@Sendable ([UInt8]) -> Void)? = nil) -> MCPConnection {
        MCPConnection(self, notify: notify)
    }
}

/// One client of a server, over a transport of your own. Safe to use from any task.
public final class MCPConnection: Sendable {
    private let server: MCPServer
    private let identifier = ConnectionNumber.next()
    private let channel: Mutex<ServerChannel>
    private let isClosed = Atomic<Bool>(false)
    private let notification: (@Sendable ([UInt8]) -> Void)?

    init(_ server: MCPServer, notify: (@Sendable ([UInt8]) -> Void)?) {
        self.server = server
        notification = notify
        // Unsolicited server messages go where progress goes.
        let stream = notify.map { notify in ConnectionStream { notify($0.array) } }
        channel = Mutex(ServerChannel(id: identifier, stream: stream))
    }

    /// Serves one message.
    ///
    /// Call it for each message as it arrives, without waiting for earlier responses: a cancellation must
    /// not wait for the request that it cancels. When the calling task is cancelled, so is the request (a
    /// batch of 2025-03-26 continues). Synchronous tools run inside the call; they must not call this
    /// connection themselves.
    /// - Returns: one JSON-RPC message, or nil when the message requires no response or was cancelled, or the
    ///   connection was closed.
    public func handle(_ bytes: [UInt8]) async -> [UInt8]? {
        if isClosed.load(ordering: .acquiring) { return nil }
        let outcome: (answer: ByteSlice?, sink: WaitingSink?) = channel.withLock { channel in
            var writer = JSONWriter()
            var sink: WaitingSink?
            let disposition = server.dispatcher.receive(ByteSlice(bytes), from: &channel, into: &writer) {
                let made = WaitingSink(notification)
                sink = made
                return made
            }
            // No server request can reach such a client.
            if notification == nil { channel.session?.abilities = [] }
            switch disposition {
            case .answered: return (writer.finish(), nil)
            case .accepted, .dropped: return (nil, nil)
            case .deferred(let exchange):
                sink?.exchange.withLock { $0 = exchange }
                return (nil, sink)
            }
        }
        if let answer = outcome.answer { return answer.array }
        guard let sink = outcome.sink else { return nil }
        // The connection may have been closed in the meantime, before this request was there to be cancelled.
        if isClosed.load(ordering: .acquiring) { server.dispatcher.end(identifier) }
        return await sink.wait(cancellingBy: server.dispatcher).map { $0.bytes.array }
    }

    /// Ends the connection: requests in flight are cancelled, and later messages are not served.
    public func close() {
        isClosed.store(true, ordering: .releasing)
        server.dispatcher.end(identifier)
    }

    deinit { close() }
}

/// A sink that lets a caller in the same process wait for the end of an exchange. Not a `OneShot`: a caller
/// that is cancelled waits for the end that its cancellation causes.
private final class WaitingSink: ResponseSink {
    private enum State {
        case open
        case waiting(CheckedContinuation<Answer?, Never>)
        case done(Answer?)
    }

    private let state = Mutex(State.open)
    private let notification: (@Sendable ([UInt8]) -> Void)?
    let exchange = Mutex<PendingRequest?>(nil)

    init(_ notification: (@Sendable ([UInt8]) -> Void)?) { self.notification = notification }

    var executor: (any TaskExecutor)? { nil }

    func notify(_ message: ByteSlice) {
        let isDone = state.withLock { state in if case .done = state { true } else { false } }
        if !isDone { notification?(message.array) }
    }

    func finish(_ answer: Answer?) {
        let waiting = state.withLock { state -> CheckedContinuation<Answer?, Never>? in
            defer { state = .done(answer) }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume(returning: answer)
    }

    func wait(cancellingBy dispatcher: Dispatcher) async -> Answer? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let done = state.withLock { state -> Answer?? in
                    if case .done(let answer) = state { return .some(answer) }
                    state = .waiting(continuation)
                    return .none
                }
                if let answer = done { continuation.resume(returning: answer) }
            }
        } onCancel: {
            dispatcher.cancel(exchange.withLock { $0 })
        }
    }
}
