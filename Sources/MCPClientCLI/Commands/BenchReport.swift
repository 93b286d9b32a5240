import MCPCore

/// The results of a load run, as a line for people and as JSON.
struct BenchReport: Sendable {
    private let times: [Int64]
    private let errors: Int
    let firstError: String?
    private let elapsed: Duration
    private let perSecond: Double
    private let tasks: Int
    /// The seconds of processor time that the server used, where they can be read.
    private let processor: Double?

    init(_ tally: Load.Tally, elapsed: Duration, perSecond: Double, tasks: Int, processor: Double?) {
        times = tally.times.sorted()
        errors = tally.errors
        firstError = tally.firstError
        self.elapsed = elapsed
        self.perSecond = perSecond
        self.tasks = tasks
        self.processor = processor
    }

    /// Returns the number of calls in each second.
    static func rate(_ calls: Int, in elapsed: Duration) -> Double {
        let milliseconds = TimeSpan.milliseconds(elapsed)
        return milliseconds > 0 ? Double(calls) / milliseconds * 1000 : 0
    }

    /// Returns the time that `part` of the calls did not exceed, in milliseconds (nearest rank).
    private func percentile(_ part: Double) -> Double {
        guard !times.isEmpty else { return 0 }
        let rank = Int((part * Double(times.count)).rounded(.up))
        return Double(times[min(max(rank, 1), times.count) - 1]) / 1e6
    }

    private static let parts: [(name: String, part: Double)] = [
        ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1),
    ]

    /// `2000 ok 0 errors · 9,812/s · p50 1.5 p90 2.2 p99 4.9 max 12.0 ms`
    var line: String {
        let columns = Self.parts.map { "\($0.name) \(Self.milliseconds(percentile($0.part)))" }
        return
            "\(times.count - errors) ok \(errors) errors · \(Self.grouped(Int(perSecond.rounded())))/s · "
            + columns.joined(separator: " ") + " ms"
    }

    /// The line about the server's processor time, which is counted in ticks of 10 ms: fewer than ten of them
    /// are not meaningful.
    var processorLine: String? {
        guard let processor, processor >= 0.1, !times.isEmpty else { return nil }
        let each = processor / Double(times.count) * 1_000_000
        return "server CPU \(Self.hundredths(each)) µs per call"
    }

    var json: JSONValue {
        var object: JSONObject = [
            "ok": JSONValue(times.count - errors), "errors": JSONValue(errors),
            "concurrency": JSONValue(tasks), "seconds": JSONValue(TimeSpan.milliseconds(elapsed) / 1000),
            "perSecond": JSONValue(perSecond),
        ]
        var latency = JSONObject()
        for (name, part) in Self.parts { latency[name] = JSONValue(percentile(part)) }
        object["milliseconds"] = .object(latency)
        if let processor { object["serverProcessorSeconds"] = JSONValue(processor) }
        if let firstError { object["firstError"] = .string(firstError) }
        return .object(object)
    }

    /// Formats with two decimal places below one millisecond, otherwise with one.
    private static func milliseconds(_ value: Double) -> String {
        value < 1 ? hundredths(value) : TimeSpan.decimal(value)
    }

    private static func hundredths(_ value: Double) -> String {
        guard value.isFinite, value < 1e9 else { return "?" }
        let all = Int((value * 100).rounded())
        let rest = all % 100
        return "\(all / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// `9,812`
    static func grouped(_ number: Int) -> String {
        var text = ""
        for (index, digit) in String(number).reversed().enumerated() {
            if index > 0, index % 3 == 0, digit != "-" { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
