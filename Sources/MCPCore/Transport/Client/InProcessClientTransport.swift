import Synchronization

/// Talks straight to a server in this process: every message takes the way it takes on a pipe, without the
/// pipe.
final class InProcessClientTransport: ClientTransport {
    private struct State {
        var slot = LegacySlot.none
        weak var inbox: (any ClientInbox)?
        var isClosed = false
    }

    private let server: MCPServer
    /// Tells this connection's requests from those of all others.
    private let scope = ConnectionNumber.next()
    private let state = Mutex(State())

    init(_ server: MCPServer) {
        self.server = server
    }

    var isHTTP: Bool { false }

    func start(_ inbox: any ClientInbox) { state.withLock { $0.inbox = inbox } }

    func send(_ message: OutboundMessage, id: Int64) { deliver(message.bytes) }

    func post(_ message: OutboundMessage) async throws(ClientError) { deliver(message.bytes) }

    func abandon(_ id: Int64, notice: OutboundMessage?) {
        if let notice { deliver(notice.bytes) }
    }

    func close() async { shutDown() }

    func shutDown() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isFirst { server.dispatcher.cancelAll(in: scope) }
    }

    private func deliver(_ bytes: ByteSlice) {
        let (inbox, slot, isClosed) = state.withLock { ($0.inbox, $0.slot, $0.isClosed) }
        guard let inbox, !isClosed else { return }
        var origin = Origin(scope: scope, slot: slot)
        var writer = JSONWriter()
        let disposition = server.dispatcher.receive(bytes, from: &origin, into: &writer) { InboxSink(inbox) }
        if case .none = slot, case .negotiated = origin.slot {
            let fixed = origin.slot
            state.withLock { $0.slot = fixed }
            let stream = ConnectionStream { [weak inbox] message in
                inbox?.receive(message, exchange: nil, status: nil)
            }
            server.dispatcher.subscriptions.sessions.attach(stream, to: scope)
        }
        if case .answered = disposition { inbox.receive(writer.finish(), exchange: nil, status: nil) }
    }
}

/// Takes what a deferred exchange sends to the client that waits for it.
private final class InboxSink: ExchangeSink {
    private let inbox: any ClientInbox

    init(_ inbox: any ClientInbox) { self.inbox = inbox }

    var executor: (any TaskExecutor)? { nil }

    func notify(_ message: ByteSlice) { inbox.receive(message, exchange: nil, status: nil) }

    func finish(_ answer: Answer?) {
        if let answer { inbox.receive(answer.bytes, exchange: nil, status: nil) }
    }
}
