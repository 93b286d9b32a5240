import MCPCore
import Synchronization

/// Counts requests and their durations: one series for each method, tool, revision and outcome.
///
/// Connections are spread over several parts, so that loops rarely wait for each other; reading adds the
/// parts up.
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
    private static let firstBound = bounds[0].nanoseconds
    private static let bucketCount = bounds.count + 1
    private static let partCount = 8

    struct Series: Sendable {
        let method: String
        /// Nil for methods other than `tools/call`.
        let tool: String?
        let version: String
        let outcome: CallOutcome
        /// The requests by bucket; the last one is for those beyond all bounds.
        var buckets = [Int](repeating: 0, count: CallMetrics.bucketCount)
        var nanoseconds: Int64 = 0
        var count: Int { buckets.reduce(0, +) }
    }

    /// The tasks of a tool that ended in one way.
    struct Tasks: Sendable {
        var count = 0
        var nanoseconds: Int64 = 0
    }

    struct TaskKey: Sendable, Hashable {
        let tool: String
        let outcome: CallOutcome
    }

    struct Snapshot: Sendable {
        var series: [Series] = []
        var tasks: [TaskKey: Tasks] = [:]
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

    /// The series that was used last in a part: mostly it is used again.
    private struct Last {
        let method: Int
        let revision: Int
        let outcome: CallOutcome
        let tool: RawJSON?
        let number: Int

        // A function: to take the value out of the counts would copy it.
        func fits(_ method: Int, _ revision: Int, _ outcome: CallOutcome, _ tool: RawJSON?) -> Bool {
            self.method == method && self.revision == revision && self.outcome == outcome && self.tool == tool
        }
    }

    private struct Counts {
        /// The keys of the series, in the order of their first requests.
        var keys: [Key] = []
        var index: [Key: Int] = [:]
        /// `bucketCount` numbers for each series.
        var buckets: [Int] = []
        var nanoseconds: [Int64] = []
        var requestBytes = 0
        var responseBytes = 0
        var last = Last(method: -1, revision: -1, outcome: .ok, tool: nil, number: 0)
    }

    /// A part of the counts. A class: a lock cannot be an element of an array.
    private final class Part: Sendable {
        let inFlight = Atomic<Int>(0)
        let counts = Mutex(Counts())
    }

    private let parts = (0 ..< CallMetrics.partCount).map { _ in Part() }
    private let refusals = Mutex<[RefusedRequest.Reason: Int]>([:])
    private let tasks = Mutex<[TaskKey: Tasks]>([:])
    /// The tools that have series of their own.
    private let tools = Mutex<Set<String>>([])
    private let isTool: @Sendable (String) -> Bool

    /// - Parameter isTool: whether a tool of this name exists; only then its name becomes a label.
    init(isTool: @escaping @Sendable (String) -> Bool) { self.isTool = isTool }

    @inline(__always)
    private func part(of request: IncomingRequest) -> Part {
        parts[Int(truncatingIfNeeded: request.connection) & (Self.partCount - 1)]
    }

    func began(_ request: IncomingRequest) { part(of: request).inFlight.add(1, ordering: .relaxed) }

    func ended(_ request: IncomingRequest, _ end: RequestEnd, _ outcome: CallOutcome) {
        let part = part(of: request)
        part.inFlight.subtract(1, ordering: .relaxed)
        let (method, revision) = (request.methodIndex, request.revisionIndex)
        let isCall = request.isToolCall
        let tool = isCall ? request.rawName : nil
        let nanoseconds = max(0, end.nanoseconds)
        part.counts.withLock { counts in
            counts.requestBytes &+= request.size
            counts.responseBytes &+= end.responseSize
            let number: Int
            if counts.last.fits(method, revision, outcome, tool) {
                number = counts.last.number
            } else {
                let key = Key(
                    method: request.method, tool: isCall ? label(tool?.string) : nil,
                    version: request.protocolVersion.text, outcome: outcome)
                number = self.number(of: key, &counts)
                // Copied: the name is a part of a block of many kilobytes.
                let copy = tool.flatMap { $0.bytes.count < 256 ? RawJSON($0.value) : nil }
                counts.last = Last(
                    method: method, revision: revision, outcome: outcome, tool: copy, number: number)
            }
            counts.buckets[number * Self.bucketCount + Self.bucket(of: nanoseconds)] &+= 1
            counts.nanoseconds[number] &+= nanoseconds
        }
    }

    func ended(_ task: TaskEnd, _ outcome: CallOutcome) {
        let key = TaskKey(tool: label(task.tool), outcome: outcome)
        tasks.withLock { tasks in
            tasks[key, default: Tasks()].count += 1
            tasks[key, default: Tasks()].nanoseconds &+= max(0, task.nanoseconds)
        }
    }

    private static func bucket(of nanoseconds: Int64) -> Int {
        if nanoseconds <= firstBound { return 0 }
        return bounds.firstIndex { nanoseconds <= $0.nanoseconds } ?? bounds.count
    }

    /// Returns the label of a tool, which is its name if it exists and there is room for it.
    private func label(_ name: String?) -> String {
        guard let name else { return Self.otherTools }
        return tools.withLock { tools in
            if tools.contains(name) { return name }
            guard tools.count < Self.maxTools, isTool(name) else { return Self.otherTools }
            tools.insert(name)
            return name
        }
    }

    private func number(of key: Key, _ counts: inout Counts) -> Int {
        if let number = counts.index[key] { return number }
        let number = counts.keys.count
        counts.keys.append(key)
        counts.index[key] = number
        counts.buckets += [Int](repeating: 0, count: Self.bucketCount)
        counts.nanoseconds.append(0)
        return number
    }

    func refused(_ reason: RefusedRequest.Reason) { refusals.withLock { $0[reason, default: 0] += 1 } }

    /// The sums of all parts.
    var snapshot: Snapshot {
        var snapshot = Snapshot(tasks: tasks.withLock { $0 }, refusals: refusals.withLock { $0 })
        var index: [Key: Int] = [:]
        for part in parts {
            snapshot.inFlight += part.inFlight.load(ordering: .relaxed)
            part.counts.withLock { counts in
                snapshot.requestBytes &+= counts.requestBytes
                snapshot.responseBytes &+= counts.responseBytes
                for (number, key) in counts.keys.enumerated() {
                    if index[key] == nil {
                        index[key] = snapshot.series.count
                        snapshot.series.append(
                            Series(
                                method: key.method, tool: key.tool, version: key.version,
                                outcome: key.outcome))
                    }
                    let sum = index[key] ?? 0
                    for bucket in 0 ..< Self.bucketCount {
                        snapshot.series[sum].buckets[bucket] &+=
                            counts.buckets[number * Self.bucketCount + bucket]
                    }
                    snapshot.series[sum].nanoseconds &+= counts.nanoseconds[number]
                }
            }
        }
        snapshot.inFlight = max(0, snapshot.inFlight)
        return snapshot
    }
}
