import Synchronization

/// A client transport over a `MessageTransport` of the program.
final class MessageClientTransport: ClientTransport {
    private let counted = Counted(.messageClientTransport)

    private struct Outgoing: Sendable {
        let bytes: ByteSlice
        /// The id of a request, which fails when it cannot be sent.
        let id: Int64?
    }

    private struct State {
        weak var inbox: (any ClientInbox)?
        var tasks: [Task<Void, Never>] = []
        /// The reason why nothing is sent any more.
        var end: ClientError?
    }

    /// The time that a close waits for messages that are being sent.
    private static let sendGrace = Duration.seconds(2)

    private let transport: any MessageTransport
    private let name: String
    private let maxMessageBytes: Int
    private let queue: BoundedQueue<Outgoing>
    private let state = Mutex(State())

    init(_ transport: any MessageTransport, name: String, options: ClientOptions) {
        self.transport = transport
        self.name = name
        maxMessageBytes = options.maxMessageBytes
        queue = BoundedQueue(limit: options.maxMessageBytes) { $0.bytes.count }
    }

    var isHTTP: Bool { false }

    // MARK: Sending

    func send(_ message: OutboundMessage, id: Int64) { put(message.bytes, id) }

    func post(_ message: OutboundMessage) async throws(ClientError) { put(message.bytes, nil) }

    func abandon(_ id: Int64, notice: OutboundMessage?) {
        if let notice { put(notice.bytes, nil) }
    }

    private func put(_ bytes: ByteSlice, _ id: Int64?) {
        let (end, inbox) = state.withLock { ($0.end, $0.inbox) }
        if var end {
            end.isUnsent = true
            if let id { inbox?.fail(id, end) }
        } else if !queue.add(Outgoing(bytes: bytes.copy(), id: id)) {
            finish(
                ClientError(
                    .connectionClosed,
                    "\(name) does not accept messages: more than \(maxMessageBytes) bytes are waiting"))
        }
    }

    // MARK: Life cycle

    func start(_ inbox: any ClientInbox) {
        let (transport, outgoing) = (transport, queue.stream(whenDropped: {}))
        let maxBytes = maxMessageBytes
        let sender = Task { [weak self] in
            for await message in outgoing {
                do {
                    try await transport.send(message.bytes.array)
                } catch {
                    self?.finish("cannot send to", error)
                    return
                }
            }
        }
        let receiver = Task { [weak self, weak inbox] in
            do {
                while let message = try await transport.receive() {
                    guard message.count <= maxBytes else {
                        throw MessageTooLong(count: message.count, limit: maxBytes)
                    }
                    inbox?.receive(ByteSlice(message), exchange: nil, status: nil)
                }
                self?.finish("the connection has ended:", nil)
            } catch {
                self?.finish("cannot receive from", error)
            }
        }
        let isOver = state.withLock { state in
            state.inbox = inbox
            if state.end == nil { state.tasks = [sender, receiver] }
            return state.end != nil
        }
        if isOver { for task in [sender, receiver] { task.cancel() } }
    }

    private struct MessageTooLong: Error, CustomStringConvertible {
        let count: Int
        let limit: Int
        var description: String { "a message has \(count) bytes, but at most \(limit) are accepted" }
    }

    private func finish(_ what: String, _ error: (any Error)?) {
        let reason = error.map { ": \($0)" } ?? ""
        finish(ClientError(.connectionClosed, "\(what) \(name)\(reason)"))
    }

    /// Ends the connection for this reason; only the first counts.
    private func finish(_ error: ClientError) {
        let (inbox, tasks) = state.withLock { state -> ((any ClientInbox)?, [Task<Void, Never>]?) in
            guard state.end == nil else { return (nil, nil) }
            state.end = error
            defer { state.tasks = [] }
            return (state.inbox, state.tasks)
        }
        guard let tasks else { return }
        queue.finish()
        inbox?.connectionClosed(error)
        for task in tasks { task.cancel() }
        let transport = transport
        Task { await transport.close() }
    }

    func close() async {
        let (isFirst, tasks) = state.withLock { state -> (Bool, [Task<Void, Never>]) in
            let isFirst = state.end == nil
            if isFirst { state.end = ClientError(.connectionClosed, "the client was closed") }
            defer { state.tasks = [] }
            return (isFirst, state.tasks)
        }
        guard isFirst else { return }
        queue.finish()
        // Messages that were handed over are sent, if that takes no longer than the grace period.
        if let sender = tasks.first { _ = try? await Race.run(within: Self.sendGrace) { await sender.value } }
        await transport.close()
        for task in tasks { task.cancel() }
    }

    func shutDown() { finish(ClientError(.connectionClosed, "the client was closed")) }

    func abort() async { shutDown() }
}
