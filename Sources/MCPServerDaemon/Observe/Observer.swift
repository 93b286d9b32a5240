import MCPCore

/// The middleware that sees everything: metrics, the audit log, logged calls, recorded exchanges, last
/// errors.
final class Observer: ServerMiddleware {
    let metrics: CallMetrics?
    let audit: AuditLog?
    let recorder: FlightRecorder?
    let errors: ErrorRing?
    let commands = CommandCounters()
    /// What no line contains.
    let secrets: HiddenSecrets
    private let redactor: Redactor?
    private let calls: LogSettings.Calls
    private let log: Log
    /// The beginnings of the lines of as many connections.
    private static let openingCount = 64
    private let openings: [LineOpening]

    init(
        metrics: CallMetrics?, audit: (log: AuditLog, redactor: Redactor)?, recorder: FlightRecorder?,
        errors: ErrorRing?, calls: LogSettings.Calls, hiding secrets: HiddenSecrets = HiddenSecrets(),
        log: Log
    ) {
        self.secrets = secrets
        self.metrics = metrics
        self.audit = audit?.log
        redactor = audit?.redactor
        openings = audit == nil ? [] : (0 ..< Self.openingCount).map { _ in LineOpening() }
        self.recorder = recorder
        self.errors = errors
        self.calls = calls
        self.log = log
    }

    // MARK: Middleware

    var wantsResponses: Bool { recorder != nil }

    func willServe(_ request: IncomingRequest) { metrics?.began(request) }

    func didServe(_ request: IncomingRequest, _ end: RequestEnd) {
        let outcome = CallOutcome(end)
        metrics?.ended(request, end, outcome)
        if let audit, request.isToolCall || Self.isAudited(request.method) || outcome.isFailure {
            add(request, end, outcome, to: audit)
        }
        if calls == .all || (calls == .failed && outcome.isFailure) { logCall(request, end, outcome) }
        if outcome.isFailure, let errors {
            let isCall = request.isToolCall
            let name = [isCall ? nil : request.method, secrets.name(of: request)].compactMap { $0 }
            errors.add(
                isCall ? "call" : "request", name: name.joined(separator: " "), text(of: end, outcome))
        }
        if request.method != "ping" { recorder?.add(request, end, outcome) }
    }

    func didRefuse(_ refusal: RefusedRequest) {
        metrics?.refused(refusal.reason)
        audit?.add(line(for: refusal))
        // Those of other users have lines anyway.
        guard calls != .none, refusal.reason != .user else { return }
        log.info(
            "request refused",
            [
                "reason": refusal.reason.rawValue,
                (refusal.status == nil ? "code" : "status"): refusal.status ?? refusal.code ?? 0,
                "address": refusal.peer ?? "-", "principal": refusal.principal ?? "-",
                "detail": refusal.detail ?? "-",
            ])
    }

    func didEndTask(_ end: TaskEnd) {
        let outcome = CallOutcome(end.outcome)
        metrics?.ended(end, outcome)
        audit?.add(line(for: end, outcome))
        if calls == .all || (calls == .failed && outcome.isFailure) {
            log.info(
                "task",
                [
                    "name": end.tool, "outcome": outcome.rawValue, "ms": end.duration.wholeMilliseconds,
                    "address": end.peer ?? "-", "principal": end.principal?.shown ?? "-",
                    "task": end.taskID, "trace": end.traceContext?.traceID ?? "-",
                ])
        }
        if outcome.isFailure, let errors {
            errors.add("task", name: end.tool, secrets.shown(end.failure ?? outcome.rawValue))
        }
    }

    /// The methods besides calls that use something; the others only open a connection or keep it open.
    private static func isAudited(_ method: String) -> Bool {
        switch method {
        case "resources/read", "prompts/get", "initialize", "completion/complete",
            "resources/subscribe", "tasks/update", "tasks/cancel", "subscriptions/listen":
            true
        default: false
        }
    }

    private func logCall(_ request: IncomingRequest, _ end: RequestEnd, _ outcome: CallOutcome) {
        log.info(
            "request",
            [
                "method": request.method, "name": secrets.name(of: request) ?? "-",
                "outcome": outcome.rawValue,
                "ms": end.duration.wholeMilliseconds, "address": request.peer ?? "-",
                "principal": request.principal?.shown ?? "-", "era": request.protocolVersion.text,
                "trace": request.traceContext?.traceID ?? "-",
            ])
    }

    /// Returns the text of a failure, as the client received it.
    private func text(of end: RequestEnd, _ outcome: CallOutcome) -> String {
        let response = end.response
        let text =
            response?["error"]?["message"]?.string
            ?? response?["result"]?["content"]?[0]?["text"]?.string ?? outcome.rawValue
        return secrets.shown(text)
    }

    // MARK: Audit lines

    /// Adds the line of a request.
    private func add(
        _ request: IncomingRequest, _ end: RequestEnd, _ outcome: CallOutcome, to audit: AuditLog
    ) {
        openings[Int(truncatingIfNeeded: request.connection) & (Self.openingCount - 1)].write(
            request,
            opening: { addOpening(of: request, to: &$0) },
            rest: { line, memory, hasTrace in
                if !request.isToolCall { addTask(of: request, to: &line) }
                addArguments(of: request, to: &line, &memory)
                let trace = hasTrace ? request.traceContext : request.headTraceContext
                addEnd(of: request, end, outcome, trace, &line)
            },
            done: audit.add)
    }

    private func addEnd(
        of request: IncomingRequest, _ end: RequestEnd, _ outcome: CallOutcome, _ trace: TraceContext?,
        _ line: inout LineText
    ) {
        line.literal(",\"outcome\":\"")
        line.append(outcome.rawValue.utf8)
        if case .error(let code) = end.outcome {
            line.literal("\",\"code\":")
            line.number(code)
        } else {
            line.byte(0x22)
        }
        line.literal(",\"ms\":")
        line.milliseconds(nanoseconds: end.nanoseconds)
        addID(request.id, to: &line)
        if let trace {
            line.literal(",\"trace\":\"")
            line.append(trace.traceID.utf8)
            line.byte(0x22)
        }
    }

    private func addID(_ id: RawJSON?, to line: inout LineText) {
        guard let id, id.bytes.count <= 1_024 else { return }
        line.literal(",\"id\":")
        if id.kind == .string { line.string(id.string ?? "", limit: 256) } else { line.append(id.bytes) }
    }

    /// Adds what most requests of a connection have in common, from behind the time.
    private func addOpening(of request: IncomingRequest, to line: inout LineText) {
        line.literal("\",\"event\":\"request\",\"principal\":")
        if let principal = request.principal {
            line.string(principal.shown)
        } else {
            line.literal("null")
        }
        addClient(of: request, to: &line)
        line.literal(",\"address\":")
        line.string(request.peer ?? "")
        line.literal(",\"connection\":")
        // Numbers above 2^53 are not exact in every JSON parser; those of sessions are random.
        line.number(Int(request.connection & 0x1F_FFFF_FFFF_FFFF))
        line.literal(",\"era\":\"")
        line.append(request.protocolVersion.text.utf8)
        line.literal("\",\"method\":")
        line.string(request.method)
        guard let name = request.rawName, name.kind == .string else { return }
        line.literal(",\"name\":")
        let text = name.string ?? ""
        let shown = secrets.shown(text)
        if shown != text {
            line.string(shown)
        } else if name.bytes.count <= LineText.maxTextBytes {
            line.byte(0x22)
            line.escaped(name.bytes.dropFirst().dropLast(), isJSON: true)
            line.byte(0x22)
        } else {
            // Not a part of the JSON, which could end within an escape.
            line.string(text)
        }
    }

    /// Adds the id of the task that a request is about. A caller may have put anything there.
    private func addTask(of request: IncomingRequest, to line: inout LineText) {
        guard request.method.hasPrefix("tasks/"), let id = request.params?["taskId"]?.string else { return }
        line.literal(",\"task\":")
        line.string(secrets.shown(id), limit: 256)
    }

    private func addArguments(
        of request: IncomingRequest, to line: inout LineText, _ memory: inout Redactor.Memory
    ) {
        guard let redactor, let arguments = request.arguments else { return }
        let start = line.bytes.count
        line.literal(",\"arguments\":")
        if redactor.append(arguments, to: &line, remembering: &memory) { return }
        line.truncate(to: start)
        line.literal(",\"argumentBytes\":")
        line.number(arguments.bytes.count)
    }

    /// Adds the name and the version that the client declares.
    private func addClient(of request: IncomingRequest, to line: inout LineText) {
        let isFirst = request.method == "initialize"
        let info =
            isFirst
            ? request.params?["clientInfo"] : request.meta?["io.modelcontextprotocol/clientInfo"]
        guard let name = info?["name"]?.string else { return }
        line.literal(",\"client\":")
        line.string(
            [name, info?["version"]?.string].compactMap { $0 }.joined(separator: "/"), limit: 256)
    }

    /// Returns the line of a task's end, without its last brace.
    private func line(for end: TaskEnd, _ outcome: CallOutcome) -> [UInt8] {
        var line = LineText(reserving: 256)
        line.literal("{\"time\":\"")
        line.append(WallTime.now.iso8601)
        line.literal("\",\"event\":\"task\",\"principal\":")
        if let principal = end.principal {
            line.string(principal.shown)
        } else {
            line.literal("null")
        }
        line.literal(",\"address\":")
        line.string(end.peer ?? "")
        line.literal(",\"connection\":")
        line.number(Int(end.connection & 0x1F_FFFF_FFFF_FFFF))
        line.literal(",\"name\":")
        line.string(end.tool)
        line.literal(",\"task\":")
        line.string(end.taskID)
        line.literal(",\"outcome\":\"")
        line.append(outcome.rawValue.utf8)
        line.byte(0x22)
        if case .error(let code) = end.outcome {
            line.literal(",\"code\":")
            line.number(code)
        }
        line.literal(",\"ms\":")
        line.milliseconds(nanoseconds: end.nanoseconds)
        addID(end.requestID, to: &line)
        if let trace = end.traceContext {
            line.literal(",\"trace\":\"")
            line.append(trace.traceID.utf8)
            line.byte(0x22)
        }
        return line.bytes
    }

    /// Returns the line of a refusal, without its last brace.
    private func line(for refusal: RefusedRequest) -> [UInt8] {
        var line = LineText(reserving: 256)
        line.literal("{\"time\":\"")
        line.append(WallTime.now.iso8601)
        line.literal("\",\"event\":\"refused\",\"address\":")
        line.string(refusal.peer ?? "")
        if let principal = refusal.principal {
            line.literal(",\"principal\":")
            line.string(principal)
        }
        line.literal(",\"reason\":\"")
        line.append(refusal.reason.rawValue.utf8)
        line.byte(0x22)
        if let status = refusal.status {
            line.literal(",\"status\":")
            line.number(status)
        }
        if let code = refusal.code {
            line.literal(",\"code\":")
            line.number(code)
        }
        if let detail = refusal.detail {
            line.literal(",\"detail\":")
            line.string(detail, limit: 256)
        }
        if let text = refusal.text {
            line.literal(",\"text\":")
            line.string(text, limit: 256)
        }
        return line.bytes
    }
}

extension Duration {
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds) &* 1_000 &+ Int(attoseconds / 1_000_000_000_000_000)
    }
}
