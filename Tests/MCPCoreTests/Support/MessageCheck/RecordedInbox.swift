import Synchronization

@testable import MCPCore

/// Shows a recorder what a transport brings to a client.
final class RecordedInbox: ClientInbox {
    struct Target: Sendable {
        weak var inbox: (any ClientInbox)?
        init(_ inbox: (any ClientInbox)?) { self.inbox = inbox }
    }

    let target = Mutex(Target(nil))
    private let recorder: MessageRecorder

    init(_ recorder: MessageRecorder) { self.recorder = recorder }

    private var inbox: (any ClientInbox)? { target.withLock { $0.inbox } }

    func receive(_ bytes: ByteSlice, exchange: Int64?, status: Int?) {
        recorder.saw(bytes, from: .server)
        inbox?.receive(bytes, exchange: exchange, status: status)
    }

    func isWaiting(_ id: Int64) -> Bool { inbox?.isWaiting(id) ?? false }
    func fail(_ id: Int64, _ error: ClientError) { inbox?.fail(id, error) }
    func failAll(_ error: ClientError) { inbox?.failAll(error) }
    func serverStreamRefused(_ error: ClientError) { inbox?.serverStreamRefused(error) }
    func sessionLost() { inbox?.sessionLost() }
    func connectionClosed(_ error: ClientError) { inbox?.connectionClosed(error) }
}
