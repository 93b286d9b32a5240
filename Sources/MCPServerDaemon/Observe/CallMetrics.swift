import MCPCore
import Synchronization

/// Counts requests and their durations: one series for each method, tool, revision and outcome.
final class CallMetrics: Sendable {
    /// The upper bounds of the buckets in seconds: those of `mcp.server.operation.duration` in the semantic
    /// conventions of OpenTelemetry for MCP.
    static let bounds: [(text: String, nanoseconds: Int64)] = [
        ("0.01", 10_000_000), ("0.02", 20_000_000), ("0.05", 50_000_000), ("0.1", 100_000_000),
        ("0.2", 200_000_000), ("0.5", 500_000_000), ("1", 1_000_000_000), ("2", 2_000_000_000),
        ("5", 5_000_000_000), ("10", 10_000_000_000), ("30", 30_000_000_000), ("60", 60_000_000_000),
        ("120", 120_000_000_000), ("300", 300_000_000_000),
    ]
    /// The most tools that have series of their own; the others share the name `other`.
    static let maxTools = 1_000
    static let otherTools = "other"

    struct Series: Sendable {
        let method: String
        /// Nil for methods other than `tools/call`.
        let tool: String?
        let version: String
        let outcome: CallOutcome
        /// The requests by bucket; the last one is for those beyond all bounds.
        var buckets = [Int](repeating: 0, count: CallMetrics.bounds.count + 1)
        var nanoseconds: Int64 = 0
        var count: Int { buckets.reduce(0, +) }
    }

    struct Snapshot: Sendable {
        var series: [Series] = []
        var inFlight = 0
        var requestBytes = 0
        var responseBytes = 0
        var refusals: [RefusedRequest.Reason: Int] = [:]
    }

    private struct Key: Hashable {
        let method: String
        let tool: String?
        let version: String
        let outcome: CallOutcome
    }

    private struct State {
        var series: [Series] = []
        var index: [Key: Int] = [:]
        var tools: Set<String> = []
        var requestBytes = 0
        var responseBytes = 0
        var refusals: [RefusedRequest.Reason: Int] = [:]
        /// The series that was used last: mostly it is used again.
        var last: (method: String, tool: RawJSON?, version: String, outcome: CallOutcome, number: Int)?
    }

    private let state = Mutex(State())
    private let inFlight = Atomic<Int>(0)
    private let isTool: @Sendable (String) -> Bool

    /// - Parameter isTool: whether a tool of this name exists; only then its name becomes a label.
    init(isTool: @escaping @Sendable (String) -> Bool) { self.isTool = isTool }

    func began() { inFlight.add(1, ordering: .relaxed) }

    func ended(_ request: IncomingRequest, _ end: RequestEnd, _ outcome: CallOutcome) {
        inFlight.subtract(1, ordering: .relaxed)
        let (seconds, attoseconds) = end.duration.components
        let nanoseconds = seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
        let isCall = request.method == "tools/call"
        let rawName = isCall ? request.rawName : nil
        let version = request.protocolVersion.text
        state.withLock { state in
            state.requestBytes &+= request.size
            state.responseBytes &+= end.responseSize
            let number: Int
            if let last = state.last, last.outcome == outcome, last.tool == rawName,
                last.method == request.method, last.version == version
            {
                number = last.number
            } else {
                number = self.number(
                    Key(
                        method: request.method, tool: isCall ? label(rawName?.string, state) : nil,
                        version: version, outcome: outcome), &state)
                // Copied: the name is a part of a block of many kilobytes.
                let copy = rawName.flatMap { $0.bytes.count < 256 ? RawJSON($0.value) : nil }
                state.last = (request.method, copy, version, outcome, number)
                if let name = state.series[number].tool, name != Self.otherTools { state.tools.insert(name) }
            }
            let bucket = Self.bounds.firstIndex { nanoseconds <= $0.nanoseconds } ?? Self.bounds.count
            state.series[number].buckets[bucket] &+= 1
            state.series[number].nanoseconds &+= max(0, nanoseconds)
        }
    }

    private func label(_ name: String?, _ state: borrowing State) -> String {
        guard let name else { return Self.otherTools }
        if state.tools.contains(name) { return name }
        return state.tools.count < Self.maxTools && isTool(name) ? name : Self.otherTools
    }

    private func number(_ key: Key, _ state: inout State) -> Int {
        if let number = state.index[key] { return number }
        state.series.append(
            Series(method: key.method, tool: key.tool, version: key.version, outcome: key.outcome))
        state.index[key] = state.series.count - 1
        return state.series.count - 1
    }

    func refused(_ reason: RefusedRequest.Reason) {
        state.withLock { $0.refusals[reason, default: 0] += 1 }
    }

    var snapshot: Snapshot {
        let inFlight = max(0, inFlight.load(ordering: .relaxed))
        return state.withLock { state in
            Snapshot(
                series: state.series, inFlight: inFlight, requestBytes: state.requestBytes,
                responseBytes: state.responseBytes, refusals: state.refusals)
        }
    }
}
