import Synchronization

/// The results that the runs of the conformance page have shown, by client.
final class ConformanceRecord: Sendable {
    /// The number of clients that are remembered. One more, and all are forgotten.
    private static let maxClients = 64

    private let passed = Mutex<[String: Set<String>]>([:])

    /// Adds the results of a run, and returns those of all runs of that client, in the order of the page.
    func add(_ ids: [String], by client: String) -> [String] {
        passed.withLock { passed in
            if passed[client] == nil, passed.count == Self.maxClients { passed = [:] }
            let known = passed[client, default: []].union(ids)
            passed[client] = known
            return ConformanceView.ids.filter(known.contains)
        }
    }
}
