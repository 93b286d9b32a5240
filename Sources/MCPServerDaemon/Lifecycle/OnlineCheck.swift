import MCPCore

/// `mcp-server check --online`: asks the issuers of tokens, the state store and the servers of `mcpServers`
/// what a running server would ask them.
struct OnlineCheck {
    let environment: [String: String]
    var clock: any TimeSource = SystemClock()

    /// Prints a line for each finding. Returns whether everything can be used.
    func run(_ configuration: Configuration) async -> Bool {
        var areGood = true
        if let auth = configuration.auth, await !run(auth) { areGood = false }
        if let state = configuration.state, await !tryStore(state, of: configuration.server.name) {
            areGood = false
        }
        if await !tryUpstreams(configuration.upstreams) { areGood = false }
        return areGood
    }

    /// Connects to the servers behind this one, all at once, as a start does; programs are started and ended.
    private func tryUpstreams(_ definitions: [UpstreamDefinition]) async -> Bool {
        guard !definitions.isEmpty else { return true }
        let supervisor = ProcessSupervisor(
            program: SupervisorProgram.ownProgram, arguments: [Daemon.superviseCommand], ownsProcess: true,
            log: .disabled)
        defer { supervisor.endNow() }
        let findings = await withTaskGroup(of: (Int, String?).self) { group in
            for (index, definition) in definitions.enumerated() {
                group.addTask { (index, await Self.problem(of: definition, supervisor)) }
            }
            var findings = [String?](repeating: nil, count: definitions.count)
            for await (index, problem) in group { findings[index] = problem }
            return findings
        }
        for (definition, problem) in zip(definitions, findings) {
            let outcome = problem.map { "error: \(TerminalText.inline($0))" } ?? "ok (connected)"
            Terminal.out(["mcpServers.\(TerminalText.inline(definition.name)): \(outcome)"])
        }
        return findings.allSatisfy { $0 == nil }
    }

    private static func problem(
        of definition: UpstreamDefinition, _ supervisor: ProcessSupervisor
    ) async -> String? {
        var definition = definition
        definition.restarts = false
        let upstream = definition.makeUpstream(supervisor: supervisor, log: .disabled)
        let servers = UpstreamGroup()
        servers.set([upstream])
        var problem: String?
        do { try await upstream.connect() } catch {
            let text = (error as? MCPError)?.message ?? "\(error)"
            // The name stands before it.
            problem = text.dropping(prefix: "\(definition.name): ") ?? text
        }
        await servers.stop()
        return problem
    }

    private func tryStore(_ state: StateSettings, of name: String) async -> Bool {
        guard let finding = await StoreCheck(settings: state, name: name).run() else { return true }
        if let problem = finding.problem {
            let hint = finding.hint.map { ["hint: \($0)"] } ?? []
            Terminal.out(["the state store at \(finding.place): error: \(problem)"] + hint)
        } else {
            Terminal.out(["the state store at \(finding.place): ok (a key was written, read and removed)"])
        }
        return finding.problem == nil
    }

    /// Returns whether all tokens could be verified.
    private func run(_ auth: AuthSettings) async -> Bool {
        var areGood = true
        for issuer in auth.issuers where await !keys(of: issuer) { areGood = false }
        if let introspection = auth.introspection, await !ask(introspection) { areGood = false }
        return areGood
    }

    private func keys(of issuer: AuthSettings.Issuer) async -> Bool {
        do {
            let text: String
            var sentAt: Int64?
            if case .text(let keys) = issuer.keys {
                text = keys
            } else {
                let keys = issuer.fetchedKeys(AccessControl.allowedHosts(environment))
                text = try await keys.fetchKept { sentAt = $0.sentAt }.text
            }
            let count = try IssuerKeys.usableKeys(in: text)
            guard count > 0 else {
                Terminal.out(["\(issuer.name): error: none of its keys can be used"])
                return false
            }
            Terminal.out(["\(issuer.name): ok (\(Diagnostics.counted(count, "key")))"])
            return reportSkew(of: issuer, sentAt)
        } catch {
            return report(error, of: issuer.name)
        }
    }

    /// Compares the clocks: tokens of an issuer whose clock differs by more than `skew` are refused.
    private func reportSkew(of issuer: AuthSettings.Issuer, _ sentAt: Int64?) -> Bool {
        guard let sentAt else { return true }
        let (difference, overflow) = sentAt.subtractingReportingOverflow(clock.wallTime.secondsSinceEpoch)
        let allowed = issuer.skew.components.seconds
        guard overflow || difference.magnitude > UInt64(max(0, allowed)) else { return true }
        let words = difference > 0 ? "ahead of" : "behind"
        Terminal.out([
            "\(issuer.name): error: its clock is \(difference.magnitude) s \(words) that of this machine, "
                + "and auth.jwt allows \(allowed) s: new tokens are refused", "hint: set the clocks by NTP",
        ])
        return false
    }

    private func ask(_ introspection: AuthSettings.Introspection) async -> Bool {
        do throws(AuthorizationError) {
            try await introspection.verifier(AccessControl.allowedHosts(environment)).probe()
            Terminal.out(["\(introspection.issuer): ok (introspection)"])
            return true
        } catch {
            return report(error, of: introspection.issuer)
        }
    }

    private func report(_ error: any Error, of issuer: String) -> Bool {
        guard let error = error as? AuthorizationError else {
            Terminal.out(["\(issuer): error: \(error)"])
            return false
        }
        let hint = error.hint.map { ["hint: \($0)"] } ?? []
        Terminal.out(["\(issuer): error: \(error.message)"] + error.details.map { "  \($0)" } + hint)
        return false
    }
}
