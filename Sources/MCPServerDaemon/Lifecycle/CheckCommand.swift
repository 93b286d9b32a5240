import MCPCore

/// `mcp-server check`: reports everything that is wrong with a configuration.
struct CheckCommand {
    let file: String?
    let overrides: [Override]
    let environment: [String: String]

    func run(isOnline: Bool) async -> ExitCode {
        guard let file = file ?? DefaultFile.find(environment) else {
            let places = DefaultFile.candidates(environment).joined(separator: " or ")
            Terminal.error(
                CommandLineError("there is no configuration in \(places)", hint: "mcp-server check FILE")
                    .lines)
            return .usage
        }
        let outcome = ConfigurationLoader(overrides: overrides, environment: environment).load(file: file)
        Terminal.out(outcome.diagnostics.report)
        if outcome.diagnostics.hasErrors { return .checkFailed }
        let configuration = outcome.configuration
        if isOnline, let auth = configuration.auth, await !reachAll(auth) { return .checkFailed }
        if outcome.diagnostics.items.isEmpty {
            let parts = [
                Diagnostics.counted(configuration.tools.count, "tool"),
                configuration.files.count == 1
                    ? "1 directory of files" : "\(configuration.files.count) directories of files",
                Diagnostics.counted(configuration.prompts.count, "prompt"),
            ]
            Terminal.out(["\(file): ok (\(parts.joined(separator: ", ")))"])
        }
        return .success
    }

    /// Asks each issuer for its metadata and its keys. Returns whether all of them can be used.
    private func reachAll(_ auth: AuthSettings) async -> Bool {
        var areGood = true
        for issuer in auth.issuers {
            do {
                let text: String
                if case .text(let keys) = issuer.keys {
                    text = keys
                } else {
                    text = try await issuer.fetchedKeys(AccessControl.allowedHosts(environment)).fetch()
                }
                let count = try IssuerKeys.usableKeys(in: text)
                guard count > 0 else {
                    Terminal.out(["\(issuer.name): error: none of its keys can be used"])
                    areGood = false
                    continue
                }
                Terminal.out(["\(issuer.name): ok (\(Diagnostics.counted(count, "key")))"])
            } catch let error as AuthorizationError {
                let hint = error.hint.map { ["hint: \($0)"] } ?? []
                Terminal.out(
                    ["\(issuer.name): error: \(error.message)"] + error.details.map { "  \($0)" } + hint)
                areGood = false
            } catch {
                Terminal.out(["\(issuer.name): error: \(error)"])
                areGood = false
            }
        }
        return areGood
    }
}
