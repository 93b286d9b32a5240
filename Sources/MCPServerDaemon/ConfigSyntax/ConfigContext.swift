import MCPCore

/// The surroundings that reading a configuration depends on.
final class ConfigContext {
    /// What a configuration is read for.
    enum Purpose: Sendable {
        /// A server that starts or runs.
        case serving
        /// A command that needs to know what is in it.
        case inspecting
        /// `check`, which also looks whether a server could start here now.
        case checking
    }

    let diagnostics: Diagnostics
    /// The directory that relative names in the configuration are relative to.
    let directory: String
    let environment: [String: String]
    /// The channel that the command line selects instead of the configured one (`--channel`).
    let servedChannel: String?
    let purpose: Purpose
    /// Whether root reads secrets of the user that runs the server.
    var isInspected: Bool { purpose != .serving }
    /// The files that the configuration names, as far as they were to be read: texts and secrets.
    private(set) var texts: [String] = []
    private(set) var secrets: [String] = []
    /// The further files of the configuration.
    private(set) var included: [String] = []

    init(
        diagnostics: Diagnostics, directory: String, environment: [String: String],
        servedChannel: String? = nil, purpose: Purpose = .serving
    ) {
        self.diagnostics = diagnostics
        self.directory = directory
        self.environment = environment
        self.servedChannel = servedChannel
        self.purpose = purpose
    }

    /// Returns the absolute form of a name in the configuration.
    func absolute(_ path: String) -> String { Paths.absolute(path, relativeTo: directory) }

    /// Notes a further file of the configuration.
    func includes(_ path: String) { included.append(path) }

    /// Returns the text of a file that the configuration names, without the newline at its end.
    func readText(_ path: String) throws(ConfigFileError) -> String {
        texts.append(absolute(path))
        return try ConfigFile.text(at: absolute(path), shownAs: path)
    }

    /// Returns the contents of another file that the configuration names.
    func readBytes(_ path: String, atMost limit: Int) throws(ConfigFileError) -> [UInt8] {
        texts.append(absolute(path))
        return try ConfigFile.bytes(at: absolute(path), shownAs: path, atMost: limit)
    }

    /// Returns the text of a secret, which no one but its owner may read or write.
    func readSecret(_ path: String) throws(ConfigFileError) -> String {
        secrets.append(absolute(path))
        return try ConfigFile.text(
            at: absolute(path), shownAs: path, isPrivate: true, ofAnyUser: isInspected)
    }
}
