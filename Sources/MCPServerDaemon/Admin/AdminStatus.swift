import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The figures of a server for operators.
struct AdminStatus {
    private let subject: AdminService.Subject
    private let calls: CallMetrics.Snapshot

    init(_ subject: AdminService.Subject) {
        self.subject = subject
        calls = subject.observer.metrics?.snapshot ?? CallMetrics.Snapshot()
    }

    private var served: Int { calls.series.reduce(0) { $0 + $1.count } }

    private var failed: Int {
        calls.series.reduce(0) { $0 + ($1.outcome.isFailure ? $1.count : 0) } + failedTasks { _ in true }
    }

    /// The calls that became tasks and failed later: until then, they have succeeded.
    private func failedTasks(_ isWanted: (String) -> Bool) -> Int {
        calls.tasks.reduce(0) { sum, entry in
            sum + (entry.key.outcome.isFailure && isWanted(entry.key.tool) ? entry.value.count : 0)
        }
    }

    var json: JSONValue {
        let state = subject.state
        let process = ProcessFigures.current
        var json: JSONObject = [
            "name": .string(subject.server.name), "version": .string(subject.server.version),
            "program": .string(DaemonVersion.current), "pid": .number(JSONNumber(Int(getpid()))),
            "state": .string(state.phase.rawValue), "startedAt": .string(state.startedAt.description),
            "uptimeSeconds": .number(JSONNumber(state.uptime.wholeMilliseconds / 1_000)),
            "listen": .array((state.running?.addresses ?? []).map { .string($0.description) }),
            "connections": number(state.running?.connectionCount ?? 0),
            "inFlight": number(calls.inFlight), "served": number(served), "failed": number(failed),
            "refused": number(calls.refusals.values.reduce(0, +)),
            "commands": number(subject.observer.commands.running),
            "errors": number(subject.observer.errors?.total ?? 0),
            "logLost": number(subject.log.droppedLines),
        ]
        if let failure = subject.log.failure() { json["logFailure"] = .string(failure) }
        json["sandbox"] = .string(SandboxSupport.current.description)
        if let file = subject.configuration { json["configuration"] = .string(file) }
        if let bytes = process.residentBytes { json["residentBytes"] = number(bytes) }
        if state.isReloading { json["reloading"] = true }
        if let report = state.lastReload { json["lastReload"] = report.json }
        if let audit = subject.observer.audit?.status { json["audit"] = Self.json(audit) }
        if let store = subject.store { json["stateStore"] = Self.json(store) }
        if let tokens = subject.tokens() {
            var entry: JSONObject = ["count": number(tokens.count)]
            if let failure = tokens.failure { entry["failure"] = .string(failure) }
            json["tokens"] = .object(entry)
        }
        json["tools"] = .array(tools)
        json["upstreams"] = .array(subject.upstreams().map(Self.json))
        return .object(json)
    }

    private func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }

    private static func json(_ audit: AuditLog.Status) -> JSONValue {
        var json: JSONObject = [
            "written": .number(JSONNumber(audit.written)), "lost": .number(JSONNumber(audit.lost)),
        ]
        if let failure = audit.failure { json["failure"] = .string(failure) }
        if let head = audit.head { json["head"] = .string(head) }
        return .object(json)
    }

    private static func json(_ upstream: UpstreamStatus) -> JSONValue {
        var json: JSONObject = [
            "name": .string(upstream.name), "state": .string(upstream.state.rawValue),
            "calls": .number(JSONNumber(upstream.calls)), "failed": .number(JSONNumber(upstream.errors)),
            "tools": .number(JSONNumber(upstream.tools)),
        ]
        if let error = upstream.lastError { json["lastError"] = .string(error) }
        if let next = upstream.nextTry {
            json["nextTryMilliseconds"] = .number(JSONNumber(next.wholeMilliseconds))
        }
        return .object(json)
    }

    private static func json(_ store: RedisStore) -> JSONValue {
        let status = store.status
        var json: JSONObject = [
            "address": .string(store.place), "connected": .bool(status.isConnected),
            "commands": .number(JSONNumber(status.commands)), "failed": .number(JSONNumber(status.failures)),
        ]
        if let error = status.lastError { json["lastError"] = .string(error) }
        return .object(json)
    }

    /// The calls by tool.
    private var tools: [JSONValue] {
        let byTool = Dictionary(grouping: calls.series.filter { $0.tool != nil }) { $0.tool ?? "" }
        return byTool.sorted { $0.key < $1.key }.map { name, series in
            let count = series.reduce(0) { $0 + $1.count }
            let nanoseconds = series.reduce(Int64(0)) { $0 + $1.nanoseconds }
            let failed =
                series.reduce(0) { $0 + ($1.outcome.isFailure ? $1.count : 0) } + failedTasks { $0 == name }
            return [
                "name": .string(name), "calls": number(count), "failed": number(failed),
                "meanMilliseconds": number(count == 0 ? 0 : Int(nanoseconds / 1_000_000) / count),
            ]
        }
    }

    func errors(_ count: Int) -> JSONValue {
        let entries = subject.observer.errors?.last(count) ?? []
        return .array(
            entries.map { entry in
                [
                    "time": .string(entry.time.description), "source": .string(entry.source),
                    "name": .string(entry.name), "text": .string(entry.text),
                ]
            })
    }

    // MARK: Metrics

    var metrics: String {
        var text = MetricsText()
        let state = subject.state
        text.begin("mcp_server_info", .gauge, "The server and its version.")
        text.sample(
            "mcp_server_info",
            [
                ("name", subject.server.name), ("version", subject.server.version),
                ("program_version", DaemonVersion.current),
            ], 1)
        text.single(
            "mcp_server_ready", .gauge, "Whether the server accepts requests.",
            state.phase == .ready ? 1 : 0)
        text.write(calls)
        text.single(
            "mcp_server_connections", .gauge, "The open HTTP connections.",
            state.running?.connectionCount ?? 0)
        writeCommands(&text)
        writeReloads(&text)
        writeUpstreams(&text)
        if let status = subject.store?.status {
            text.single(
                "mcp_server_state_store_up", .gauge,
                "Whether the store that instances share carries out commands.",
                status.isConnected && status.lastError == nil ? 1 : 0)
            text.begin(
                "mcp_server_state_store_commands_total", .counter, "The commands to the store.")
            text.sample(
                "mcp_server_state_store_commands_total", [("result", "done")], status.commands)
            text.sample(
                "mcp_server_state_store_commands_total", [("result", "failed")], status.failures)
        }
        if let audit = subject.observer.audit?.status {
            text.single(
                "mcp_server_audit_lines_total", .counter, "The lines of the audit log written.",
                audit.written)
            text.single(
                "mcp_server_audit_lost_total", .counter, "The lines of the audit log lost.", audit.lost)
            text.single(
                "mcp_server_audit_failing", .gauge, "Whether the audit log cannot be written.",
                audit.failure == nil ? 0 : 1)
        }
        text.single("mcp_server_log_lost_total", .counter, "The log lines lost.", subject.log.droppedLines)
        text.single(
            "mcp_server_log_failing", .gauge, "Whether the log file cannot be written or opened again.",
            subject.log.failure() == nil ? 0 : 1)
        text.write(ProcessFigures.current, startedAt: state.startedAt)
        return text.text
    }

    private func writeCommands(_ text: inout MetricsText) {
        let commands = subject.observer.commands
        text.single(
            "mcp_server_commands_running", .gauge, "The commands of tools that are running.",
            commands.running)
        text.single(
            "mcp_server_command_busy_total", .counter, "The calls for which no slot was free.",
            commands.busy)
        text.single(
            "mcp_server_command_timeouts_total", .counter, "The commands stopped at their time-out.",
            commands.timeouts)
    }

    private func writeUpstreams(_ text: inout MetricsText) {
        let upstreams = subject.upstreams()
        if upstreams.isEmpty { return }
        text.begin(
            "mcp_server_upstream_ready", .gauge,
            "Whether a server behind this one is connected, or rests until the next call.")
        for upstream in upstreams {
            let isReady = upstream.state == .ready || upstream.state == .idle
            text.sample("mcp_server_upstream_ready", [("upstream", upstream.name)], isReady ? 1 : 0)
        }
        text.begin(
            "mcp_server_upstream_calls_total", .counter, "The calls passed to a server behind this one.")
        for upstream in upstreams {
            text.sample("mcp_server_upstream_calls_total", [("upstream", upstream.name)], upstream.calls)
        }
        text.begin(
            "mcp_server_upstream_errors_total", .counter, "The calls that such a server did not answer.")
        for upstream in upstreams {
            text.sample("mcp_server_upstream_errors_total", [("upstream", upstream.name)], upstream.errors)
        }
    }

    private func writeReloads(_ text: inout MetricsText) {
        let reloads = subject.state.reloads
        text.begin("mcp_server_reloads_total", .counter, "The readings of the configuration.")
        text.sample("mcp_server_reloads_total", [("result", "done")], reloads.done)
        text.sample("mcp_server_reloads_total", [("result", "failed")], reloads.failed)
        text.single(
            "mcp_server_reload_successful", .gauge,
            "Whether the configuration in use is the one that was read last.",
            subject.state.lastReload?.isDone == false ? 0 : 1)
    }
}
