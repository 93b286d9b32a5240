import MCPCore

/// The Unix socket at which programs of the same user provide their tools.
enum ProvidersSocket {
    /// The variable that names the directory of the default place.
    #if canImport(Darwin)
    static let variable = "TMPDIR"
    #else
    static let variable = "XDG_RUNTIME_DIR"
    #endif

    /// Returns the default place over HTTP, or `nil` if there is no directory for such sockets.
    static func defaultPath(_ environment: [String: String]) -> String? {
        guard var directory = environment[variable], directory.hasPrefix("/") else { return nil }
        while directory.hasSuffix("/") { directory.removeLast() }
        guard !directory.isEmpty, Paths.directoryProblem(directory) == nil else { return nil }
        return "\(directory)/mcpcore/providers.sock"
    }

    /// Returns the place of a server: over standard input and output it has only the one that is configured.
    static func path(
        _ settings: ClientToolSettings, isStdio: Bool, _ environment: [String: String]
    ) -> String? {
        settings.providersSocket ?? (isStdio ? nil : defaultPath(environment))
    }

    /// Returns the address to listen on, after creating its directory. Only this user may connect: mode 0600.
    ///
    /// - Parameters:
    ///   - isDefault: whether the place was not configured, so that its directory must be private, too.
    ///   - isPassed: whether a service manager has passed the socket, to which the directory then belongs.
    static func address(
        _ path: String, isDefault: Bool, isPassed: Bool = false
    ) throws(ClientToolSetupError) -> ConfiguredAddress {
        let address: ConfiguredAddress
        do throws(ConfiguredAddress.Flaw) {
            address = try ConfiguredAddress(unixPath: path)
        } catch {
            throw ClientToolSetupError("the providers' socket \(path) \(error.text)")
        }
        if isPassed { return address }
        let directory = Paths.parent(of: path)
        if isDefault { try PrivateDirectory.prepare(directory) } else { try PrivateDirectory.make(directory) }
        return address
    }
}
