package import Synchronization

@testable package import MCPCore

/// Shows a recorder what a transport brings to a client.
package final class RecordedInbox: ClientInbox {
    package struct Target: Sendable {
        package weak var inbox: (any ClientInbox)?
        package init(_ inbox: (any ClientInbox)?) { self.inbox = inbox }
    }

    package let target = Mutex(Target(nil))
    private let recorder: MessageRecorder

    package init(_ recorder: MessageRecorder) { self.recorder = recorder }

    private var inbox: (any ClientInbox)? { target.withLock { $0.inbox } }

    package func receive(_ bytes: ByteSlice, exchange: Int64?, status: Int?) {
        recorder.saw(bytes, from: .server)
        inbox?.receive(bytes, exchange: exchange, status: status)
    }

    package func isWaiting(_ id: Int64) -> Bool { inbox?.isWaiting(id) ?? false }
    package func fail(_ id: Int64, _ error: ClientError) { inbox?.fail(id, error) }
    package func failAll(_ error: ClientError) { inbox?.failAll(error) }
    package func serverStreamRefused(_ error: ClientError) { inbox?.serverStreamRefused(error) }
    package func awaitsCredentials(_ id: Int64?, _ isWaiting: Bool) {
        inbox?.awaitsCredentials(id, isWaiting)
    }
    package func identityChanged() { inbox?.identityChanged() }
    package func messagesMayBeLost() { inbox?.messagesMayBeLost() }
    package func serverStreamBegan() { inbox?.serverStreamBegan() }
    package func serverStreamFailed(_ error: ClientError, attempts: Int) {
        inbox?.serverStreamFailed(error, attempts: attempts)
    }
    package func sessionLost() { inbox?.sessionLost() }
    package func connectionClosed(_ error: ClientError) { inbox?.connectionClosed(error) }
}
