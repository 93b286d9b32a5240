import MCPCore
import MCPHarness
import Synchronization

/// The tools of a server for an agent, each list of which is compared with the lock file.
///
/// The list that is compared is the one that the model gets. Once a list differs, nothing of the server is
/// called any more.
final class LockedSource: ToolSource {
    private let source: MCPServerSource
    private let session: Session
    private let locked: LockedServer
    private let refused = Mutex<Failure?>(nil)

    init(_ source: MCPServerSource, _ session: Session, _ locked: LockedServer) {
        (self.source, self.session, self.locked) = (source, session, locked)
    }

    /// Why nothing is called any more; nil for a server that is as in the lock file.
    var failure: Failure? { refused.withLock { $0 } }

    var id: ToolSourceID { source.id }
    var displayName: String { source.displayName }
    var kind: ToolSourceKind { source.kind }
    var identity: String { source.identity }
    var changes: AsyncStream<Void> { source.changes }
    func instructions() async -> String? { await source.instructions() }

    /// What the harness shows of a failure.
    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    func tools() async throws -> [Tool] {
        do throws(Failure) { return try await locked.tools(session) } catch {
            if error.kind == .locked { refused.withLock { $0 = $0 ?? error } }
            throw Refusal(description: error.message)
        }
    }

    func call(_ invocation: ToolInvocation) async throws -> CallToolResult {
        if let failure { throw Refusal(description: failure.message) }
        return try await source.call(invocation)
    }
}
