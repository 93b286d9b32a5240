import MCPCore
import Synchronization

extension Session {
    /// Runs `work`, which uses lists of the server, and once more with new ones if it failed with lists that
    /// an earlier command had kept: what is refused is refused by the server of today.
    func withFreshLists<R>(_ work: () async throws(Failure) -> R) async throws(Failure) -> R {
        let before = client.reusedCount
        do throws(Failure) { return try await work() } catch {
            guard client.reusedCount > before, !Task.isCancelled else { throw error }
            client.dropCache()
            return try await work()
        }
    }
}

extension ArgumentInput {
    /// The same sources, of which standard input is read once and can be used again.
    var rereadable: ArgumentInput {
        let kept = KeptInput()
        let source = stdin
        var input = self
        input.stdin = { () throws(Failure) in
            if let bytes = kept.bytes.withLock({ $0 }) { return bytes }
            let bytes = try source()
            kept.bytes.withLock { $0 = bytes }
            return bytes
        }
        return input
    }

    private final class KeptInput: Sendable {
        let bytes = Mutex<[UInt8]?>(nil)
    }
}
