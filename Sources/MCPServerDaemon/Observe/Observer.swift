import MCPCore
import Synchronization

/// The middleware that sees everything: metrics, the audit log, logged calls, recorded exchanges, last
/// errors.
final class Observer: ServerMiddleware {
    let metrics: CallMetrics?
    let audit: AuditLog?
    let recorder: FlightRecorder?
    let errors: ErrorRing?
    let commands = CommandCounters()
    private let redactor: Redactor?
    private let calls: LogSettings.Calls
    private let log: Log
    /// The refusals of other users that were not logged, and when the next one may be.
    private let strangers = Mutex<(count: Int, next: ContinuousClock.Instant)>((0, .now))
    private let clients = Mutex<(meta: ByteSlice, text: [UInt8])?>(nil)

    init(
        metrics: CallMetrics?, audit: (log: AuditLog, redactor: Redactor)?, recorder: FlightRecorder?,
        errors: ErrorRing?, calls: LogSettings.Calls, log: Log
    ) {
        self.metrics = metrics
        self.audit = audit?.log
        redactor = audit?.redactor
        self.recorder = recorder
        self.errors = errors
        self.calls = calls
        self.log = log
    }

    // MARK: Middleware

    var wantsResponses: Bool { recorder != nil }

    func willServe(_ request: IncomingRequest) { metrics?.began() }

    func didServe(_ request: IncomingRequest, _ end: RequestEnd) {
        let outcome = CallOutcome(end.outcome)
        metrics?.ended(request, end, outcome)
        if let audit, Self.isAudited(request.method) || outcome.isFailure {
            audit.add(line(for: request, end, outcome))
        }
        if calls == .all || (calls == .failed && outcome.isFailure) { logCall(request, end, outcome) }
        if outcome.isFailure, let errors {
            let isCall = request.method == "tools/call"
            let name = [isCall ? nil : request.method, request.name].compactMap { $0 }
            errors.add(
                isCall ? "call" : "request", name: name.joined(separator: " "), Self.text(of: end, outcome))
        }
        if request.method != "ping" { recorder?.add(request, end, outcome) }
    }

    func didRefuse(_ refusal: RefusedRequest) {
        metrics?.refused(refusal.reason)
        audit?.add(line(for: refusal))
        let isStranger = refusal.reason == .user
        guard calls != .none || isStranger else { return }
        let times = isStranger ? strangersToLog() : 1
        guard times > 0 else { return }
        log.info(
            "request refused",
            [
                "reason": refusal.reason.rawValue, "status": refusal.status ?? refusal.code ?? 0,
                "address": refusal.peer ?? "-", "detail": refusal.detail ?? "-", "times": times,
            ])
    }

    /// Counts a refusal of another user, which is always logged, but not more than once a second. Returns the
    /// number since the last line; 0 for none now.
    private func strangersToLog() -> Int {
        strangers.withLock { state in
            state.count += 1
            let now = ContinuousClock.now
            guard now >= state.next else { return 0 }
            defer { state = (0, now + .seconds(1)) }
            return state.count
        }
    }

    /// The methods that use something; the others only open a connection or keep it open.
    private static func isAudited(_ method: String) -> Bool {
        switch method {
        case "tools/call", "resources/read", "prompts/get", "initialize", "completion/complete",
            "resources/subscribe", "tasks/update", "tasks/cancel", "subscriptions/listen":
            true
        default: false
        }
    }

    private func logCall(_ request: IncomingRequest, _ end: RequestEnd, _ outcome: CallOutcome) {
        log.info(
            "request",
            [
                "method": request.method, "name": request.name ?? "-", "outcome": outcome.rawValue,
                "ms": end.duration.wholeMilliseconds, "address": request.peer ?? "-",
                "principal": request.principal?.shown ?? "-", "era": request.protocolVersion.text,
                "trace": request.traceContext?.traceID ?? "-",
            ])
    }

    /// Returns the text of a failure, as the client received it.
    private static func text(of end: RequestEnd, _ outcome: CallOutcome) -> String {
        let response = end.response
        let text =
            response?["error"]?["message"]?.string
            ?? response?["result"]?["content"]?[0]?["text"]?.string ?? outcome.rawValue
        let isCredential = unsafe text.utf8.withContiguousStorageIfAvailable {
            unsafe Redactor.isCredential($0)
        }
        return isCredential == true ? "[redacted]" : text
    }

    // MARK: Audit lines

    /// Returns the line of a request, without its last brace.
    private func line(
        for request: IncomingRequest, _ end: RequestEnd, _ outcome: CallOutcome
    ) -> [UInt8] {
        var line = LineText()
        line.literal("{\"time\":\"")
        line.append(TimeText.now())
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
        if let name = request.rawName, name.kind == .string {
            line.literal(",\"name\":")
            if name.bytes.count <= LineText.maxTextBytes {
                line.byte(0x22)
                line.escaped(name.bytes.dropFirst().dropLast(), isJSON: true)
                line.byte(0x22)
            } else {
                // Not a part of the JSON, which could end within an escape.
                line.string(name.string ?? "")
            }
        }
        addArguments(of: request, to: &line)
        line.literal(",\"outcome\":\"")
        line.append(outcome.rawValue.utf8)
        if case .error(let code) = end.outcome {
            line.literal("\",\"code\":")
            line.number(code)
        } else {
            line.byte(0x22)
        }
        line.literal(",\"ms\":")
        line.milliseconds(end.duration)
        if let id = request.id, id.bytes.count <= 1_024 {
            line.literal(",\"id\":")
            if id.kind == .string { line.string(id.string ?? "", limit: 256) } else { line.append(id.bytes) }
        }
        if let trace = request.traceContext {
            line.literal(",\"trace\":\"")
            line.append(trace.traceID.utf8)
            line.byte(0x22)
        }
        return line.bytes
    }

    private func addArguments(of request: IncomingRequest, to line: inout LineText) {
        guard let redactor, let arguments = request.arguments else { return }
        let start = line.bytes.count
        line.literal(",\"arguments\":")
        if redactor.append(arguments, to: &line) { return }
        line.truncate(to: start)
        line.literal(",\"argumentBytes\":")
        line.number(arguments.bytes.count)
    }

    /// Adds the name and the version that the client declares. Most clients send the same bytes each time.
    private func addClient(of request: IncomingRequest, to line: inout LineText) {
        let isFirst = request.method == "initialize"
        guard let meta = isFirst ? request.params : request.meta else { return }
        let known = clients.withLock { $0.flatMap { $0.meta == meta.bytes ? $0.text : nil } }
        if let known { return line.append(known) }
        let info = isFirst ? meta["clientInfo"] : meta["io.modelcontextprotocol/clientInfo"]
        var text = LineText(reserving: 64)
        if let name = info?["name"]?.string {
            text.literal(",\"client\":")
            text.string(
                [name, info?["version"]?.string].compactMap { $0 }.joined(separator: "/"), limit: 256)
        }
        line.append(text.bytes)
        guard meta.bytes.count <= 2_048 else { return }
        let copy = meta.bytes.copy()
        clients.withLock { $0 = (copy, text.bytes) }
    }

    /// Returns the line of a refusal, without its last brace.
    private func line(for refusal: RefusedRequest) -> [UInt8] {
        var line = LineText(reserving: 256)
        line.literal("{\"time\":\"")
        line.append(TimeText.now())
        line.literal("\",\"event\":\"refused\",\"address\":")
        line.string(refusal.peer ?? "")
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

extension Principal {
    /// The kind and the subject, such as `token:ci`.
    var shown: String { "\(kind.rawValue):\(subject)" }
}

extension Duration {
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds) &* 1_000 &+ Int(attoseconds / 1_000_000_000_000_000)
    }
}

/// The text of the current time, which is made once for each millisecond.
private enum TimeText {
    private static let last = Mutex<(millisecond: Int64, text: [UInt8])>((.min, []))

    static func now() -> [UInt8] {
        let time = WallTime.now
        let millisecond = time.nanosecondsSinceEpoch / 1_000_000
        return last.withLock { last in
            if last.millisecond != millisecond { last = (millisecond, Array(time.description.utf8)) }
            return last.text
        }
    }
}
