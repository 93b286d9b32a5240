import MCPCore

/// The commands for a running server: `status`, `errors`, `reload` and `drain`.
struct ControlCommand {
    let file: String?
    let overrides: [Override]
    let environment: [String: String]
    /// The address in place of that of the configuration.
    let address: ConfiguredAddress?

    func run(_ request: ControlRequest) async -> ExitCode {
        guard let client = await client() else { return .usage }
        do throws(AdminClient.Failure) {
            switch request {
            case .status(let isJSON): return try await status(client, isJSON: isJSON)
            case .errors(let count): return try await errors(client, count)
            case .reload(let limit): return try await reload(client, atMost: limit)
            case .drain:
                _ = try await Self.json(client.send("POST", "/drain"))
                Terminal.out(["draining"])
                return .success
            }
        } catch {
            Terminal.error(["mcp-server: \(error.text)", "hint: \(error.hint)"])
            return .failure
        }
    }

    /// Returns a client of the server, or `nil` after printing why there is none.
    private func client() async -> AdminClient? {
        if let address { return AdminClient(address: address) }
        let clients = configured()
        guard clients.count > 1 else { return clients.first }
        // A socket may be what a server that was killed has left.
        for client in clients where await client.isAnswered { return client }
        var first = clients[0]
        first.alternatives = clients.dropFirst().map { " or \($0.address.text)" }.joined()
        return first
    }

    /// Returns clients of the addresses of the configuration; none after printing why there is none.
    private func configured() -> [AdminClient] {
        var settings = AdminSettings()
        var problems: [String] = []
        var hint = "start it with a configuration that has \"admin\", and name that file with -c"
        if let file = file ?? DefaultFile.find(environment) {
            let outcome = ConfigurationLoader(
                overrides: overrides, environment: environment, purpose: .inspecting
            ).load(file: file)
            // A file with an error may be the reason for the question.
            guard outcome.configuration.admin != nil || outcome.diagnostics.hasErrors else {
                Terminal.error(
                    CommandLineError(
                        "\(file) has no \"admin\", so its server has no address for operators",
                        hint: "add \"admin\": {} and restart the server, or give an address with --admin"
                    ).lines)
                return []
            }
            settings = outcome.configuration.admin ?? settings
            if outcome.diagnostics.hasErrors, outcome.configuration.admin == nil {
                problems = outcome.diagnostics.report
            }
            hint = "start it: mcp-server -c \(TerminalText.word(file))"
        }
        let clients = settings.addresses(environment).map { AdminClient(address: $0, hintIfMissing: hint) }
        if !clients.isEmpty { return clients }
        // What cannot be read may name the address.
        Terminal.error(problems)
        Terminal.error(
            CommandLineError(
                "the address of the server is not known: \(AdminSettings.problem(environment)), and there "
                    + "is no \(AdminSettings.serviceDirectory)",
                hint: "set admin.listen in the configuration, or give the address with --admin"
            ).lines)
        return []
    }

    static func json(_ answer: AdminClient.Answer) throws(AdminClient.Failure) -> JSONValue {
        guard [200, 202, 409, 422].contains(answer.status), let json = try? JSONValue(parsing: answer.body)
        else { throw unexpected(answer) }
        return json
    }

    private static func unexpected(_ answer: AdminClient.Answer) -> AdminClient.Failure {
        AdminClient.Failure(
            text: "the server answered with status \(answer.status)",
            hint: "compare admin.listen with the address that the server prints at its start")
    }

    // MARK: Status

    private func status(_ client: AdminClient, isJSON: Bool) async throws(AdminClient.Failure) -> ExitCode {
        guard client.mayControl else { return try await readiness(client, isJSON: isJSON) }
        let answer = try await client.send("GET", "/status")
        let status = try Self.json(answer)
        if isJSON {
            Terminal.out([String(decoding: answer.body.dropLast(), as: UTF8.self)])
        } else {
            Terminal.out(Self.lines(status))
        }
        return .success
    }

    /// Prints what a port says about the server: whether it is ready, and the servers behind it.
    private func readiness(
        _ client: AdminClient, isJSON: Bool
    ) async throws(AdminClient.Failure) -> ExitCode {
        let answer = try await client.send("GET", AdminClient.readiness)
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").map { String($0) }
        guard [200, 503].contains(answer.status),
            let state = lines.first.flatMap(ServerState.Phase.init(rawValue:))
        else { throw Self.unexpected(answer) }
        if isJSON {
            Terminal.out([JSONValue.object(["state": .string(state.rawValue)]).serialized()])
        } else {
            Terminal.out([state == .ready ? "ready" : "not ready: \(state.rawValue)"])
            Terminal.out(lines.dropFirst().map(Self.sanitized))
        }
        Terminal.error([
            "note: \(client.address.text) serves health and metrics only; with a unix socket as "
                + "admin.listen, status shows everything"
        ])
        return .success
    }

    /// Returns the lines for people.
    static func lines(_ status: JSONValue) -> [String] {
        func text(_ key: String) -> String { status[key]?.stringValue ?? "" }
        func number(_ key: String) -> Int { status[key]?.intValue ?? 0 }
        let memory = status["residentBytes"]?.intValue.map { "  \(megabytes($0))" } ?? ""
        var lines = [
            "\(text("name")) \(text("version"))  \(text("state"))  up \(time(number("uptimeSeconds")))  "
                + "pid \(number("pid"))\(memory)",
            "connections \(number("connections"))  in flight \(number("inFlight"))  "
                + "served \(number("served"))  failed \(number("failed"))  refused \(number("refused"))  "
                + "commands \(number("commands"))",
        ]
        let logFailure = status["logFailure"]?.stringValue.map { "  failing: \($0)" }
        if number("logLost") > 0 || logFailure != nil {
            lines.append("log lines lost: \(number("logLost"))\(logFailure ?? "")")
        }
        if let reload = status["lastReload"], reload["ok"]?.boolValue == false {
            lines.append(
                "not reloaded: the running configuration stays (\(reload["time"]?.stringValue ?? ""))")
            lines += (reload["findings"]?.arrayValue ?? []).compactMap { $0.stringValue.map { "  \($0)" } }
        }
        if let audit = status["audit"] {
            let failure = audit["failure"]?.stringValue.map { "  failing: \($0)" } ?? ""
            lines.append(
                "audit lines \(audit["written"]?.intValue ?? 0)  lost \(audit["lost"]?.intValue ?? 0)"
                    + failure)
            if let head = audit["head"]?.stringValue { lines.append("audit head \(head)") }
        }
        if let store = status["stateStore"] {
            let isConnected = store["connected"]?.boolValue == true
            let failure = store["lastError"]?.stringValue.map { "  last error: \($0)" } ?? ""
            lines.append(
                "state store \(isConnected ? "connected" : "not connected")  "
                    + "commands \(store["commands"]?.intValue ?? 0)  failed \(store["failed"]?.intValue ?? 0)"
                    + failure)
        }
        if let failure = status["tokens"]?["failure"]?.stringValue {
            lines.append("tokens not reloaded: those read before stay valid: \(failure)")
        }
        let tools = status["tools"]?.arrayValue ?? []
        if !tools.isEmpty { lines += table(tools) }
        let upstreams = status["upstreams"]?.arrayValue ?? []
        if !upstreams.isEmpty { lines += upstreamTable(upstreams) }
        return lines.map(sanitized)
    }

    private static func table(_ tools: [JSONValue]) -> [String] {
        let names = tools.map { $0["name"]?.stringValue ?? "" }
        let width = max(4, names.map(\.count).max() ?? 0)
        let head = padded("TOOL", width) + "  CALLS     FAILED    MEAN"
        return [head]
            + zip(names, tools).map { name, tool in
                padded(name, width) + "  " + padded("\(tool["calls"]?.intValue ?? 0)", 10)
                    + padded("\(tool["failed"]?.intValue ?? 0)", 10)
                    + "\(tool["meanMilliseconds"]?.intValue ?? 0) ms"
            }
    }

    private static func upstreamTable(_ upstreams: [JSONValue]) -> [String] {
        let names = upstreams.map { $0["name"]?.stringValue ?? "" }
        let width = max(8, names.map(\.count).max() ?? 0)
        let head = padded("UPSTREAM", width) + "  STATE       CALLS     FAILED    ERROR"
        return [head]
            + zip(names, upstreams).map { name, upstream in
                // An attempt that is being made is none to come.
                let pause = upstream["nextTryMilliseconds"]?.intValue ?? 0
                let next = pause > 0 ? " (next try in \((pause + 999) / 1_000) s)" : ""
                // The last error of a server that is ready is over.
                let isReady = upstream["state"]?.stringValue == UpstreamStatus.State.ready.rawValue
                let error = isReady ? "-" : upstream["lastError"]?.stringValue ?? "-"
                return padded(name, width) + "  " + padded(upstream["state"]?.stringValue ?? "", 12)
                    + padded("\(upstream["calls"]?.intValue ?? 0)", 10)
                    + padded("\(upstream["failed"]?.intValue ?? 0)", 10) + error + next
            }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func time(_ seconds: Int) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }

    private static func megabytes(_ bytes: Int) -> String {
        let tenths = bytes / 104_858
        return "\(tenths / 10).\(tenths % 10) MB"
    }

    /// Names come from configurations, and texts from commands and clients.
    static func sanitized(_ line: String) -> String {
        String(
            String.UnicodeScalarView(
                line.unicodeScalars.map { scalar in
                    switch scalar.value {
                    case 0x09: " "
                    case 0 ..< 0x20, 0x7F ... 0x9F, 0x200E, 0x200F, 0x2028 ... 0x202E, 0x2066 ... 0x2069:
                        "\u{FFFD}"
                    default: scalar
                    }
                }))
    }

    // MARK: Others

    private func errors(_ client: AdminClient, _ count: Int) async throws(AdminClient.Failure) -> ExitCode {
        let entries = try await Self.json(client.send("GET", "/errors?n=\(count)")).arrayValue ?? []
        if entries.isEmpty { Terminal.out(["no errors since the start"]) }
        Terminal.out(
            entries.map { entry in
                Self.sanitized(
                    ["time", "source", "name", "text"].compactMap { entry[$0]?.stringValue }
                        .filter { !$0.isEmpty }.joined(separator: "  ").split(whereSeparator: \.isNewline)
                        .joined(separator: " | "))
            })
        return .success
    }

    private func reload(
        _ client: AdminClient, atMost limit: Duration?
    ) async throws(AdminClient.Failure) -> ExitCode {
        let report = try await Self.json(ReloadRequest(client: client, limit: limit).send())
        if let error = report["error"]?.stringValue {
            Terminal.error(["mcp-server: \(error)"])
            return .failure
        }
        Terminal.out((report["findings"]?.arrayValue ?? []).compactMap(\.stringValue).map(Self.sanitized))
        guard report["ok"]?.boolValue == true else {
            Terminal.out(["not reloaded: the running configuration stays"])
            return .checkFailed
        }
        let changes = report["changes"]?.stringValue ?? ""
        let keys = (report["needsRestart"]?.arrayValue ?? []).compactMap(\.stringValue)
        let nothing = keys.isEmpty ? "no changes" : "no changes that take effect now"
        Terminal.out(["reloaded: \(changes == "none" ? nothing : Self.sanitized(changes))"])
        if !keys.isEmpty {
            Terminal.out(["not in effect until a restart: \(keys.joined(separator: " "))"])
        }
        return .success
    }
}
