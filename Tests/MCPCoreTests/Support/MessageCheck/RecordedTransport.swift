import Synchronization

@testable import MCPCore

extension ClientTarget {
    /// The same target; what our code says to it, and what it says when it is ours, is checked.
    func recorded(_ ours: Set<Side> = [.client]) -> ClientTarget {
        ClientTarget(description) { (options) throws(ClientError) in
            RecordedTransport(try open(options), MessageRecorder(ours))
        }
    }
}

/// Shows a recorder what passes between a client and its transport.
final class RecordedTransport: ClientTransport {
    private let transport: any ClientTransport
    private let recorder: MessageRecorder
    private let inbox: RecordedInbox

    init(_ transport: any ClientTransport, _ recorder: MessageRecorder) {
        self.transport = transport
        self.recorder = recorder
        inbox = RecordedInbox(recorder)
    }

    var isHTTP: Bool { transport.isHTTP }
    var serverKey: ServerKey? { transport.serverKey }
    var canRestart: Bool { transport.canRestart }

    func openServerStream() { transport.openServerStream() }

    func fallBack(within timeout: Duration) async throws(ClientError) -> Bool {
        try await transport.fallBack(within: timeout)
    }

    func restart() async throws(ClientError) { try await transport.restart() }

    func start(_ inbox: any ClientInbox) {
        self.inbox.target.withLock { $0 = .init(inbox) }
        transport.start(self.inbox)
    }

    func send(_ message: OutboundMessage, id: Int64) {
        recorder.saw(message)
        transport.send(message, id: id)
    }

    func post(_ message: OutboundMessage) async throws(ClientError) {
        recorder.saw(message)
        try await transport.post(message)
    }

    func abandon(_ id: Int64, notice: OutboundMessage?) {
        if let notice { recorder.saw(notice) }
        transport.abandon(id, notice: notice)
    }

    func close() async {
        await transport.close()
        recorder.report()
    }

    func shutDown() { transport.shutDown() }

    func abort() async { await transport.abort() }

    func openingFailure(after limit: Duration) -> ClientError? { transport.openingFailure(after: limit) }
}

extension MessageRecorder {
    func saw(_ message: OutboundMessage) {
        saw(message.bytes, from: .client, version: message.revision?.version.text)
    }
}
