/// The address for operators: health, metrics, and control.
struct AdminSettings: Sendable, Hashable {
    /// The address; `nil` for the default one.
    var listen: ConfiguredAddress?

    /// The name of the socket in `$XDG_RUNTIME_DIR` or, below /run, in the directory of the service.
    static let socketName = "mcp-admin.sock"

    /// Returns the address to use; `nil` if there is no directory for the default one.
    func address(_ environment: [String: String]) -> ConfiguredAddress? {
        if let listen { return listen }
        // What systemd makes for RuntimeDirectory=, then that of the user.
        for name in ["RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"] {
            let directory = environment[name]?.split(separator: ":").first.map { String($0) } ?? ""
            guard directory.hasPrefix("/"), Paths.directoryProblem(directory) == nil else { continue }
            return try? ConfiguredAddress(unixPath: "\(directory)/\(Self.socketName)")
        }
        return nil
    }
}
