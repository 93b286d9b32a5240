import MCPCore

/// `mcp-server init`: prints files for the programs that start or front a server.
struct SetupCommand {
    let file: String?
    let overrides: [Override]
    let environment: [String: String]

    func run(_ kind: SetupFile) -> ExitCode {
        let path = file ?? DefaultFile.find(environment)
        var configuration = Configuration()
        if let path {
            let outcome = ConfigurationLoader(overrides: overrides, environment: environment).load(file: path)
            if outcome.diagnostics.hasErrors {
                Terminal.error(outcome.diagnostics.report)
                return .usage
            }
            configuration = outcome.configuration
        }
        let shown = path.map { Paths.absolute($0, relativeTo: Paths.currentDirectory) }
        let subject = SetupFile.Subject(
            program: Paths.ownProgram, configuration: shown ?? "/etc/mcp-server/mcp.jsonc",
            upstream: Self.upstream(configuration), host: configuration.auth?.host ?? "mcp.example.com",
            acceptsHost: configuration.auth?.host != nil,
            bodyBytes: configuration.limits.body ?? HTTPLimits().maxBodyBytes)
        Terminal.write(kind.text(subject))
        return .success
    }

    /// The address that a proxy forwards to: a unix socket if there is one.
    private static func upstream(_ configuration: Configuration) -> String {
        for case .unix(let path, _, _) in configuration.listen ?? [] { return "unix:\(path)" }
        for case .tcp(let host, let port) in configuration.listen ?? [] {
            return "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        }
        return "127.0.0.1:\(ConfiguredAddress.defaultPort)"
    }
}
