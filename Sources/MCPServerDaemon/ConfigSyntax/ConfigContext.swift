/// Why a file that the configuration names could not be used, in words for people.
struct ConfigFileError: Error {
    var text: String
}

/// What the reading of a configuration needs to know of its surroundings.
final class ConfigContext {
    let diagnostics: Diagnostics
    /// Relative names in the configuration are relative to this directory.
    let directory: String
    let environment: [String: String]
    /// The channel that the command line serves in place of the configured one (`--channel`).
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

    /// The absolute form of a name of the configuration.
    func absolute(_ path: String) -> String { Paths.absolute(path, relativeTo: directory) }

    /// The text of a file that the configuration names, without the newline at its end.
    func readText(_ path: String) throws(ConfigFileError) -> String {
        try ConfigFile.text(at: absolute(path), shownAs: path)
    }

    /// The same for a secret, which nobody but its owner may read or write.
    func readSecret(_ path: String) throws(ConfigFileError) -> String {
        try ConfigFile.text(at: absolute(path), shownAs: path, isPrivate: true)
    }
}
