import MCPCore

/// The requests of operators: `/healthz`, `/readyz` and `/metrics` at any address, and control on a unix
/// socket, whose permissions decide who may connect.
struct AdminService: HTTPRequestHandler {
    /// What the requests are about.
    struct Subject: Sendable {
        var server: (name: String, version: String)
        var configuration: String?
        var state: ServerState
        var observer: Observer
        var supervisor: ProcessSupervisor
        /// The states of the servers behind this one.
        var upstreams: @Sendable () -> [UpstreamStatus] = { [] }
        /// What other instances share; `nil` without a store.
        var store: RedisStore?
        /// The number of tokens, and why their file could not be read the last time; `nil` without a file.
        var tokens: @Sendable () -> (count: Int, failure: String?)? = { nil }
        var log: Log
        /// Reads the configuration again; `nil` without a file.
        var reload: (@Sendable () async -> ReloadReport)?
        /// Stops the server like SIGTERM. Returns false if it is already stopping.
        var drain: @Sendable () -> Bool
    }

    /// The time that an event loop has to finish its turn.
    static let patience = Duration.seconds(2)
    /// The header that tells of a configuration that could not be used.
    static let reloadHeader = "Mcp-Last-Reload"

    let subject: Subject
    /// Whether the address is a unix socket.
    let mayControl: Bool

    private static let paths = [
        "/healthz", "/readyz", "/metrics", "/status", "/errors", "/reload", "/drain",
    ]

    func handles(path: String) -> Bool { Self.paths.contains(path) }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        let isChange = request.path == "/reload" || request.path == "/drain"
        guard request.method == (isChange ? "POST" : "GET") || (request.method == "HEAD" && !isChange) else {
            var response = HTTPResponse.text("Use \(isChange ? "POST" : "GET")\n", status: 405)
            try? response.headers.set("Allow", to: isChange ? "POST" : "GET, HEAD")
            return response
        }
        switch request.path {
        case "/healthz": return await health()
        case "/readyz": return readiness()
        case "/metrics": return await metrics()
        default: break
        }
        guard mayControl else {
            return .text(
                "\(request.path) is served on a unix socket only: any user of this host can connect here\n",
                status: 403)
        }
        switch request.path {
        case "/status":
            await subject.observer.audit?.look()
            return .json(AdminStatus(subject).json)
        case "/errors": return errors(request.parameter("n"))
        case "/reload": return await reload()
        default: return drain()
        }
    }

    // MARK: Health

    private func health() async -> HTTPResponse {
        await subject.state.isResponsive(within: Self.patience)
            ? .text("ok\n") : .text("an event loop does not respond\n", status: 503)
    }

    private func readiness() -> HTTPResponse {
        let phase = subject.state.phase
        // Servers behind this one do not decide: what the others offer is served.
        let upstreams = subject.upstreams().map { "upstream \($0.name): \($0.state.rawValue)\n" }
        var response = HTTPResponse.text(
            "\(phase.rawValue)\n\(upstreams.joined())", status: phase == .ready ? 200 : 503)
        if subject.state.lastReload?.isDone == false {
            // The running configuration stays, so the server is as ready as before.
            try? response.headers.set(Self.reloadHeader, to: "failed")
        }
        return response
    }

    private func errors(_ number: String?) -> HTTPResponse {
        guard let number else { return .json(AdminStatus(subject).errors(20)) }
        guard let count = Int(number), count >= 0 else { return .text("n must be a number\n", status: 400) }
        return .json(AdminStatus(subject).errors(count))
    }

    private func metrics() async -> HTTPResponse {
        await subject.observer.audit?.look()
        var response = HTTPResponse.text(AdminStatus(subject).metrics)
        try? response.headers.set("Content-Type", to: MetricsText.mediaType)
        return response
    }

    // MARK: Control

    private func reload() async -> HTTPResponse {
        guard let reload = subject.reload else {
            return .json(
                ["error": "the server was started without a configuration file; nothing was reloaded"],
                status: 409)
        }
        let report = await reload()
        return .json(report.json, status: report.isDone ? 200 : 422)
    }

    private func drain() -> HTTPResponse {
        .json(["draining": true, "isFirst": .bool(subject.drain())], status: 202)
    }
}

extension HTTPResponse {
    fileprivate static func json(_ value: JSONValue, status: Int = 200) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: .bytes(Array((value.serialized() + "\n").utf8)))
        try? response.headers.set("Content-Type", to: "application/json")
        return response
    }
}
