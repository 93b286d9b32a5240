/// `mcp-server check`: reports everything that is wrong with a configuration.
enum CheckCommand {
    static func run(file: String?, overrides: [Override], environment: [String: String]) -> ExitCode {
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
        if outcome.diagnostics.items.isEmpty {
            let configuration = outcome.configuration
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
}
