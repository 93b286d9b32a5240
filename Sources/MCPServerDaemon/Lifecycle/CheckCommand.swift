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
                CommandLineError("no configuration file found in \(places)", hint: "mcp-server check FILE")
                    .lines)
            return .usage
        }
        let outcome = ConfigurationLoader(
            overrides: overrides, environment: environment, purpose: .checking
        ).load(file: file)
        Terminal.out(outcome.diagnostics.report)
        if outcome.diagnostics.hasErrors { return .checkFailed }
        let configuration = outcome.configuration
        if isOnline, await !OnlineCheck(environment: environment).run(configuration) { return .checkFailed }
        Terminal.out(["\(file): ok (\(Self.contents(of: configuration)))"])
        return .success
    }

    private static func contents(of configuration: Configuration) -> String {
        var parts = [
            Diagnostics.counted(configuration.tools.count, "tool"),
            configuration.files.count == 1
                ? "1 directory of files" : "\(configuration.files.count) directories of files",
            Diagnostics.counted(configuration.prompts.count, "prompt"),
        ]
        if !configuration.upstreams.isEmpty {
            parts.append(Diagnostics.counted(configuration.upstreams.count, "server"))
        }
        if configuration.sandboxedCount > 0 {
            parts.append(
                "\(configuration.sandboxedCount) in a sandbox (\(SandboxSupport.current.description))")
        }
        return parts.joined(separator: ", ")
    }
}
