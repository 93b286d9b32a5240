import Synchronization

/// What the runs of the conformance page have shown to each client.
final class ConformanceRecord: Sendable {
    /// With one more, all are forgotten.
    private static let maxClients = 64

    private let passed = Mutex<[String: Set<String>]>([:])

    /// Adds what a run has shown; returns what all runs of that client have, in the order of the page.
    func add(_ ids: [String], by client: String) -> [String] {
        passed.withLock { passed in
            if passed[client] == nil, passed.count == Self.maxClients { passed = [:] }
            let known = passed[client, default: []].union(ids)
            passed[client] = known
            return ConformanceView.ids.filter(known.contains)
        }
    }
}
