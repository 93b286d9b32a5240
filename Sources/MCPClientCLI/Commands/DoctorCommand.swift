import MCPCore
import Synchronization

/// The `doctor` command: takes each step to a server by itself, and shows which one fails.
struct DoctorCommand {
    let context: CommandContext
    private var invocation: Invocation { context.invocation }

    /// The time that a server has for a response that proves a step.
    static let patience = Duration.seconds(5)
    /// The page that the request with a foreign `Origin` seems to come from.
    private static let foreignOrigin = "https://origin.invalid"

    func run() async throws(Failure) -> ExitCode {
        guard let target = invocation.target else { throw invocation.command.missing(["TARGET"]) }
        var report = DoctorReport(context.console)
        var foreign: Int?
        var goesOn = true
        switch target {
        case .program(let words): goesOn = program(words, &report)
        case .http(let url):
            (goesOn, foreign) = try await address(url, &report)
            if foreign != nil, !invocation.options.hasCredentials { goesOn = try await login(url, &report) }
        case .unix(let path, let endpoint):
            (goesOn, foreign) = await connect("socket", &report) { () throws(ClientError) in
                try HTTPRelay(unixPath: path, target: endpoint)
            }
        case .recording: break
        }
        if goesOn { try await server(target, &report) }
        if let foreign { origin(foreign, &report) }
        if let failure = context.stop.failure { throw failure }
        return report.end(
            invocation.configuredName ?? invocation.targetText.map { MaskedText.words([$0]).joined() }
                ?? target.shortName,
            isStrict: invocation.options.checks.isStrict)
    }

    // MARK: The way to the server

    private func program(_ words: [String], _ report: inout DoctorReport) -> Bool {
        var launch = ProcessLaunch(words.first ?? "", Array(words.dropFirst()))
        launch.directory = invocation.options.directory
        do throws(SpawnError) {
            report.add(.ok, "program", inlineText(try launch.resolvedProgram()))
            return true
        } catch {
            report.add(.fail, "program", inlineText("\(error)"))
            return false
        }
    }

    private func address(
        _ url: String, _ report: inout DoctorReport
    ) async throws(Failure) -> (Bool, status: Int?) {
        let start = ContinuousClock.now
        do throws(ClientError) {
            if let found = try await HostLookup.addresses(ofURL: url) {
                report.add(.ok, "dns", found.joined(separator: ", "), took: ContinuousClock.now - start)
            }
        } catch {
            report.add(failure(error), to: "dns", took: ContinuousClock.now - start)
            return (false, nil)
        }
        let agreement = Mutex<TLSAgreement?>(nil)
        let trusted = invocation.options.trustFile.map { OpenSSLProvider(trustFile: $0) } ?? .system
        let tls = ObservedTLS(trusted) { found in agreement.withLock { $0 = found } }
        let isSecure = invocation.target?.isSecure == true
        return await connect(isSecure ? "tcp+tls" : "tcp", &report) { () throws(ClientError) in
            try HTTPRelay(url: url, tls: tls)
        } describe: {
            guard let agreement = agreement.withLock({ $0 }) else { return "connected" }
            let ends = agreement.certificateEnds.map { ", certificate valid until \($0)" } ?? ""
            return inlineText(agreement.version + ends)
        }
    }

    /// Sends a request as a page of another site would, which opens a connection.
    private func connect(
        _ name: String, _ report: inout DoctorReport, to relay: () throws(ClientError) -> HTTPRelay,
        describe: () -> String = { "connected" }
    ) async -> (Bool, status: Int?) {
        let start = ContinuousClock.now
        do throws(ClientError) {
            let status = try await Self.statusForForeignOrigin(try relay(), within: patience)
            // A server that does not respond has not been connected to for so long.
            report.add(.ok, name, describe(), took: status == nil ? nil : ContinuousClock.now - start)
            return (true, status)
        } catch {
            guard ![.cannotConnect, .tls, .invalidRequest].contains(error.kind) else {
                report.add(failure(error), to: name)
                return (false, nil)
            }
            report.add(.ok, name, describe())
            // A server may close the connection because of the origin; any other one cannot be understood.
            guard error.kind != .connectionClosed else { return (true, nil) }
            report.add(failure(error), to: "http")
            return (false, nil)
        }
    }

    /// The time limit for the first response: five seconds, or that for connecting if it is shorter.
    private var patience: Duration { min(Self.patience, invocation.options.connectTimeout ?? Self.patience) }

    /// Returns the status; nil if there is none in time.
    private static func statusForForeignOrigin(
        _ relay: HTTPRelay, within patience: Duration
    ) async throws(ClientError) -> Int? {
        var fields = HeaderFields()
        let version = ProtocolVersion.newest.text
        for (name, value) in [
            ("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", version), ("Mcp-Method", "server/discover"), ("Origin", foreignOrigin),
        ] {
            // None of these can be refused.
            try? fields.append(name, value)
        }
        let meta: JSONValue = [
            "io.modelcontextprotocol/protocolVersion": .string(version),
            "io.modelcontextprotocol/clientCapabilities": [:],
            "io.modelcontextprotocol/clientInfo": [
                "name": .string(ClientIdentity.name), "version": .string(ClientIdentity.version),
            ],
        ]
        let message: JSONValue = [
            "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": ["_meta": meta],
        ]
        let (request, body) = (fields, Array(message.serialized().utf8))
        let answer = await within(patience) { () async -> Result<Int, ClientError> in
            do throws(ClientError) {
                return .success(try await relay.send(method: "POST", fields: request, body: body).status)
            } catch { return .failure(error) }
        }
        return try answer?.get()
    }

    /// Runs `work` for a limited time; returns nil if that was not enough.
    private static func within<R: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async -> R
    ) async -> R? {
        await withTaskGroup(of: R?.self) { group in
            group.addTask { await work() }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func login(_ url: String, _ report: inout DoctorReport) async throws(Failure) -> Bool {
        let login = DoctorLogin(context: context, url: url)
        switch try await login.outcome() {
        case .none: return true
        case .needed(let found, let steps):
            if await login.isLoggedIn() {
                report.add(.ok, "login", "logged in")
                return true
            }
            report.add(
                .warn, "login", "needed to go on",
                details: steps + found + ["hint: \(invocation.loginLine())"])
            return false
        case .failed(let failure):
            report.add(failure, to: "login")
            return false
        }
    }

    private func failure(_ error: ClientError) -> Failure {
        FailureMapping.failure(error, method: nil, subject: nil, invocation: invocation)
    }

    // MARK: The server

    private func server(_ target: Target, _ report: inout DoctorReport) async throws(Failure) {
        let start = ContinuousClock.now
        var isOpen = false
        var found = report
        do throws(Failure) {
            _ = try await context.withSession { session throws(Failure) in
                isOpen = true
                let others = session.client.supportedVersions.filter {
                    $0 != session.client.protocolVersion.text
                }
                let also =
                    others.isEmpty ? "" : " (also \(others.map { inlineText($0) }.joined(separator: ", ")))"
                found.add(.ok, "discover", session.identity + also, took: ContinuousClock.now - start)
                if case .program = target {
                } else if case .recording = target {
                } else {
                    await stream(session, &found)
                }
                try await lists(session, &found)
                return .ok
            }
        } catch {
            if let failure = context.stop.failure { throw failure }
            var failure = error
            // This is the command that it would name.
            if failure.hint?.contains("doctor") == true { failure.hint = nil }
            found.add(failure, to: isOpen ? "list" : "discover", took: ContinuousClock.now - start)
        }
        report = found
    }

    /// Checks that the beginning of a stream arrives while the stream is open.
    private func stream(_ session: Session, _ report: inout DoctorReport) async {
        let client = session.client
        let start = ContinuousClock.now
        let answer = await Self.within(Self.patience) { () async -> Result<String, ClientError> in
            do {
                let subscription = try await client.listen(.lists, needsStream: true)
                let accepted = subscription.accepted
                await subscription.cancel()
                return .success(accepted.isEmpty ? "open, without change notifications" : "open")
            } catch let error as ClientError where error.isTransient {
                return .failure(error)
            } catch { return .success("no change notifications") }
        }
        if let error = client.outage { return report.add(failure(error), to: "stream", as: .warn) }
        switch answer {
        case .success(let text)?:
            return report.add(.ok, "stream", text, took: ContinuousClock.now - start)
        case .failure(let error)?: return report.add(failure(error), to: "stream", as: .warn)
        case nil: break
        }
        report.add(
            .warn, "stream", "no byte within \(TimeSpan.text(Self.patience))",
            details: ["a proxy may buffer responses; for nginx, the server sends X-Accel-Buffering: no"])
    }

    private func lists(_ session: Session, _ report: inout DoctorReport) async throws(Failure) {
        let start = ContinuousClock.now
        let snapshot = try await ServerSnapshot.read(
            session, ServerSnapshot.Kind.allCases, notesNameless: true)
        let counts = ServerSnapshot.Kind.allCases.compactMap { kind -> String? in
            guard let count = snapshot.definitions[kind]?.count, count > 0 else { return nil }
            return "\(count) \(kind.noun)\(count == 1 ? "" : "s")"
        }
        let findings = LintRules.findings(in: snapshot)
        let errors = findings.filter { $0.level == .error }
        let text = counts.isEmpty ? "nothing is offered" : counts.joined(separator: ", ")
        let warnings = findings.count - errors.count
        report.add(
            errors.isEmpty ? .ok : .fail, "list",
            text + (warnings > 0 ? " · \(warnings) warning\(warnings == 1 ? "" : "s") of lint" : ""),
            details: errors.prefix(5).map { "\($0.place): \($0.text)" }
                + (errors.count > 5 ? ["and \(errors.count - 5) more: \(invocation.line("lint", []))"] : []),
            took: ContinuousClock.now - start)
    }

    /// Shows what the server did with a request that seemed to come from a page of another site.
    private func origin(_ status: Int, _ report: inout DoctorReport) {
        switch status {
        case 403: report.add(.ok, "origin", "a foreign Origin is refused (403)")
        case 401: report.add(.ok, "origin", "not known: an access token is required first (401)")
        case 200 ..< 300, 400:
            report.add(
                .warn, "origin", "a foreign Origin is not refused (HTTP \(status))",
                details: ["a page in a browser may reach this server: it should answer 403"])
        // Not an endpoint of MCP, which other lines say: there is nothing to judge.
        default: break
        }
    }
}
