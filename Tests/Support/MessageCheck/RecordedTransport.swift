import Synchronization

@testable package import MCPCore

extension ClientTarget {
    /// The same target; what our code says to it, and what it says when it is ours, is checked.
    package func recorded(_ ours: Set<Side> = [.client]) -> ClientTarget {
        ClientTarget(description) { (options) throws(ClientError) in
            RecordedTransport(try open(options), MessageRecorder(ours))
        }
    }
}

/// Shows a recorder what passes between a client and its transport.
package final class RecordedTransport: ClientTransport {
    private let transport: any ClientTransport
    private let recorder: MessageRecorder
    private let inbox: RecordedInbox

    package init(_ transport: any ClientTransport, _ recorder: MessageRecorder) {
        self.transport = transport
        self.recorder = recorder
        inbox = RecordedInbox(recorder)
    }

    package var isHTTP: Bool { transport.isHTTP }
    package var serverKey: ServerKey? { transport.serverKey }
    package var canRestart: Bool { transport.canRestart }

    package func openServerStream() { transport.openServerStream() }

    package func whenServerStreamIsSettled(_ then: @escaping @Sendable () -> Void) {
        transport.whenServerStreamIsSettled(then)
    }

    package func reportsLoss(within limit: Duration) -> Bool { transport.reportsLoss(within: limit) }

    package func loseSession() { transport.loseSession() }

    package func fallBack(within timeout: Duration) async throws(ClientError) -> Bool {
        try await transport.fallBack(within: timeout)
    }

    package func hasBeenRead() async -> Bool { await transport.hasBeenRead() }

    package func startAfresh() async throws(ClientError) { try await transport.startAfresh() }

    package var lastErrors: [String]? { transport.lastErrors }

    package var address: String? { transport.address }

    package func restart() async throws(ClientError) { try await transport.restart() }

    package func start(_ inbox: any ClientInbox) {
        self.inbox.target.withLock { $0 = .init(inbox) }
        transport.start(self.inbox)
    }

    package func send(_ message: OutboundMessage, id: Int64) {
        recorder.saw(message)
        transport.send(message, id: id)
    }

    package func post(_ message: OutboundMessage) async throws(ClientError) {
        recorder.saw(message)
        try await transport.post(message)
    }

    package func abandon(_ id: Int64, notice: OutboundMessage?) {
        if let notice { recorder.saw(notice) }
        transport.abandon(id, notice: notice)
    }

    package func close() async {
        await transport.close()
        recorder.report()
    }

    package func shutDown() { transport.shutDown() }

    package func abort() async { await transport.abort() }

    package func identify() async { await transport.identify() }

    package func adoptsOtherIdentity() -> Bool { transport.adoptsOtherIdentity() }

    package func openingFailure(after limit: Duration) -> ClientError? {
        transport.openingFailure(after: limit)
    }
}

extension MessageRecorder {
    package func saw(_ message: OutboundMessage) {
        saw(message.bytes, from: .client, version: message.revision?.version.text)
    }
}
