import Synchronization

/// A transport that is directly connected to a server in this process: every message takes the same path as
/// on a pipe, without the pipe.
final class InProcessClientTransport: ClientTransport {
    private struct State {
        var channel: ServerChannel
        weak var inbox: (any ClientInbox)?
        var isClosed = false
    }

    private let server: MCPServer
    /// The number that distinguishes this connection's requests from those of all others.
    private let channelID = ConnectionNumber.next()
    private let state: Mutex<State>

    init(_ server: MCPServer) {
        self.server = server
        state = Mutex(State(channel: ServerChannel(id: channelID)))
    }

    var isHTTP: Bool { false }

    func start(_ inbox: any ClientInbox) {
        let stream = ConnectionStream { [weak inbox] in inbox?.receive($0, exchange: nil, status: nil) }
        state.withLock { state in
            state.inbox = inbox
            state.channel.stream = stream
        }
    }

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
        if isFirst { server.dispatcher.end(channelID) }
    }

    private func deliver(_ bytes: ByteSlice) {
        var (inbox, channel, isClosed) = state.withLock { ($0.inbox, $0.channel, $0.isClosed) }
        guard let inbox, !isClosed else { return }
        let wasOpen = channel.session == nil
        var writer = JSONWriter()
        let disposition = server.dispatcher.receive(bytes, from: &channel, into: &writer) { InboxSink(inbox) }
        if wasOpen, channel.session != nil { state.withLock { [channel] in $0.channel = channel } }
        // The transport may have been closed in the meantime, before this request was there to be cancelled.
        if state.withLock({ $0.isClosed }) { server.dispatcher.end(channelID) }
        if case .answered = disposition { inbox.receive(writer.finish(), exchange: nil, status: nil) }
    }
}

/// A sink that passes the messages of a deferred exchange to the client that waits for it.
private final class InboxSink: ResponseSink {
    private let inbox: any ClientInbox

    init(_ inbox: any ClientInbox) { self.inbox = inbox }

    var executor: (any TaskExecutor)? { nil }

    func notify(_ message: ByteSlice) { inbox.receive(message, exchange: nil, status: nil) }

    func finish(_ answer: Answer?) {
        if let answer { inbox.receive(answer.bytes, exchange: nil, status: nil) }
    }
}
