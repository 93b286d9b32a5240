import MCPCore

/// The Prometheus text format, version 0.0.4.
struct MetricsText {
    /// The media type of the text.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String { case counter, gauge, histogram }

    typealias Labels = [(name: String, value: String)]

    private(set) var text = ""

    /// Begins a metric: its help and its type, once.
    mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ name: String, _ labels: Labels = [], _ value: some CustomStringConvertible) {
        text += name
        if !labels.isEmpty {
            text +=
                "{" + labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// Writes a metric with a single sample.
    mutating func single(
        _ name: String, _ kind: Kind, _ help: String, _ value: some CustomStringConvertible
    ) {
        begin(name, kind, help)
        sample(name, value)
    }

    private mutating func sample(_ name: String, _ value: some CustomStringConvertible) {
        sample(name, [], value)
    }

    /// Returns a label's value with `\`, `"` and line feeds escaped, which the format requires; other control
    /// characters, which it permits, are replaced.
    static func escaped(_ value: String) -> String {
        var result = ""
        for scalar in value.unicodeScalars {
            switch scalar.value {
            case 0x5C: result += "\\\\"
            case 0x22: result += "\\\""
            case 0x0A: result += "\\n"
            case 0 ..< 0x20, 0x7F ... 0x9F: result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns nanoseconds as decimal seconds.
    static func seconds(_ nanoseconds: Int64) -> String {
        let whole = nanoseconds / 1_000_000_000
        let rest = String(nanoseconds % 1_000_000_000)
        let digits = String(repeating: "0", count: 9 - rest.count) + rest
        return "\(whole).\(digits)"
    }
}

extension MetricsText {
    /// Writes the metrics of calls.
    mutating func write(_ calls: CallMetrics.Snapshot) {
        let name = "mcp_server_operation_duration_seconds"
        begin(name, .histogram, "The duration of requests by method, tool, revision and outcome.")
        for series in calls.series {
            var labels: Labels = [("mcp_method_name", series.method)]
            if let tool = series.tool { labels.append(("gen_ai_tool_name", tool)) }
            labels += [
                ("mcp_protocol_version", series.version), ("outcome", series.outcome.rawValue),
            ]
            var sum = 0
            for (index, bound) in CallMetrics.bounds.enumerated() {
                sum += series.buckets[index]
                sample("\(name)_bucket", labels + [("le", bound.text)], sum)
            }
            sample("\(name)_bucket", labels + [("le", "+Inf")], series.count)
            sample("\(name)_sum", labels, Self.seconds(series.nanoseconds))
            sample("\(name)_count", labels, series.count)
        }
        let tasks = calls.tasks.sorted {
            ($0.key.tool, $0.key.outcome.index) < ($1.key.tool, $1.key.outcome.index)
        }
        func labels(_ key: CallMetrics.TaskKey) -> Labels {
            [("gen_ai_tool_name", key.tool), ("outcome", key.outcome.rawValue)]
        }
        begin("mcp_server_tasks_ended_total", .counter, "Tasks that ended, by tool and outcome.")
        for (key, sum) in tasks { sample("mcp_server_tasks_ended_total", labels(key), sum.count) }
        begin("mcp_server_task_seconds_total", .counter, "The duration of tasks that ended.")
        for (key, sum) in tasks {
            sample("mcp_server_task_seconds_total", labels(key), Self.seconds(sum.nanoseconds))
        }
        single("mcp_server_requests_in_flight", .gauge, "The requests being served.", calls.inFlight)
        single(
            "mcp_server_request_bytes_total", .counter, "The bytes of the messages received.",
            calls.requestBytes)
        single(
            "mcp_server_response_bytes_total", .counter, "The bytes of the responses.", calls.responseBytes)
        begin("mcp_server_refused_total", .counter, "Requests and connections refused before a handler ran.")
        for reason in RefusedRequest.Reason.allCases {
            sample("mcp_server_refused_total", [("reason", reason.rawValue)], calls.refusals[reason] ?? 0)
        }
    }
}
