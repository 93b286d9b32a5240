import MCPCore

/// The surroundings that reading a configuration depends on.
final class ConfigContext {
    let diagnostics: Diagnostics
    /// The directory that relative names in the configuration are relative to.
    let directory: String
    let environment: [String: String]
    /// The channel that the command line selects instead of the configured one (`--channel`).
    let servedChannel: String?

    init(
        diagnostics: Diagnostics, directory: String, environment: [String: String],
        servedChannel: String? = nil
    ) {
        self.diagnostics = diagnostics
        self.directory = directory
        self.environment = environment
        self.servedChannel = servedChannel
    }

    /// Returns the absolute form of a name in the configuration.
    func absolute(_ path: String) -> String { Paths.absolute(path, relativeTo: directory) }

    /// Returns the text of a file that the configuration names, without the newline at its end.
    func readText(_ path: String) throws(ConfigFileError) -> String {
        try ConfigFile.text(at: absolute(path), shownAs: path)
    }

    /// Returns the text of a secret, which no one but its owner may read or write.
    func readSecret(_ path: String) throws(ConfigFileError) -> String {
        try ConfigFile.text(at: absolute(path), shownAs: path, isPrivate: true)
    }
}
