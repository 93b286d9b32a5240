import MCPCore

/// The address for operators: health, metrics, and control.
struct AdminSettings: Sendable, Hashable {
    /// The address; `nil` for the default one.
    var listen: ConfiguredAddress?

    /// The name of the socket in `$XDG_RUNTIME_DIR` or, below /run, in the directory of the service.
    static let socketName = "mcp-admin.sock"

    /// The directory of the service, which the unit of `mcp-server init --systemd` makes.
    static let serviceDirectory = "/run/mcp-server"

    /// Returns the address to use; `nil` if there is no directory for the default one.
    func address(_ environment: [String: String]) -> ConfiguredAddress? {
        listen ?? Self.defaults(environment).first
    }

    /// Returns the addresses at which a running server may be, the most likely one first: without a name, it
    /// has chosen one by its own environment, which is not that of a shell.
    func addresses(_ environment: [String: String], service: String = serviceDirectory)
        -> [ConfiguredAddress]
    {
        if let listen { return [listen] }
        let all = Self.defaults(environment) + Self.socket(in: service)
        let present = all.filter { address in
            guard case .unix(let path, _, _) = address else { return false }
            // Whatever the reason is: the one that can be reached comes first.
            return (try? Files.info(path)) != nil
        }
        return present + all.filter { !present.contains($0) }
    }

    /// The variables that name the directory of the default address, the most likely one first.
    private static let variables = ["RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"]

    /// Explains to a person why there is no default address.
    static func problem(_ environment: [String: String]) -> String {
        let isSet = variables.contains { environment[$0]?.isEmpty == false }
        return "neither \(variables.joined(separator: " nor ")) is \(isSet ? "a directory" : "set")"
    }

    private static func defaults(_ environment: [String: String]) -> [ConfiguredAddress] {
        // What systemd makes for RuntimeDirectory=, then that of the user.
        variables.flatMap { name in
            socket(in: environment[name]?.split(separator: ":").first.map { String($0) } ?? "")
        }
    }

    private static func socket(in directory: String) -> [ConfiguredAddress] {
        guard directory.hasPrefix("/"), Paths.directoryProblem(directory) == nil,
            let address = try? ConfiguredAddress(unixPath: "\(directory)/\(socketName)")
        else { return [] }
        return [address]
    }
}
