import MCPCore

/// How programs that bring tools get in: with a token over TCP, without one at a socket of their user.
struct ProviderAccess: Sendable {
    /// Nil where nothing but the socket is listened on.
    let token: Redacted<String>?
    /// Nil: there is none.
    let socket: ConfiguredAddress?
    /// What to say about it on standard error when everything is ready.
    let lines: [String]

    /// Makes the token and the directory of the socket where they are missing.
    init(
        _ settings: ClientToolSettings, isStdio: Bool, environment: [String: String], log: Log
    ) throws(ClientToolSetupError) {
        var lines: [String] = []
        if let path = settings.providersSocket ?? (isStdio ? nil : ProvidersSocket.defaultPath(environment)) {
            let address = try ProvidersSocket.address(path, isDefault: settings.providersSocket == nil)
            lines.append("providers  \(address.shown)")
            socket = address
        } else {
            if !isStdio { log.info("no socket for providers: XDG_RUNTIME_DIR names no directory") }
            socket = nil
        }
        if isStdio {
            token = nil
        } else {
            let token = try Self.token(settings, environment, &lines)
            self.token = Redacted(token)
        }
        self.lines = lines
    }

    private static func token(
        _ settings: ClientToolSettings, _ environment: [String: String], _ lines: inout [String]
    ) throws(ClientToolSetupError) -> String {
        guard let path = settings.tokenFile ?? ProviderToken.defaultPath(environment) else {
            throw ClientToolSetupError(
                "there is no place for the token of providers: set HOME or XDG_STATE_HOME, "
                    + "or name a file with --set clientTools.tokenFile=PATH")
        }
        let token = try ProviderToken(at: path)
        // The one time that it is shown. What the journal takes down is a log, which holds no secrets.
        if token.isNew, environment["JOURNAL_STREAM"] == nil {
            lines.append("token      \(token.text)   new, kept in \(path)")
        } else {
            lines.append("token      in \(path)")
        }
        if settings.auth == .none {
            lines.append("warning    whoever reaches this machine's loopback may register tools without it")
        }
        return token.text
    }
}
