import MCPCore

/// The ways for programs that provide tools to connect: with a token over TCP, without one at a socket of
/// their user.
struct ProviderAccess: Sendable {
    /// The token; `nil` if the daemon listens on nothing but the socket.
    let token: Redacted<String>?
    /// The tokens by channel; empty if the daemon listens on nothing but the socket.
    let channelTokens: [String: Redacted<String>]
    /// The socket; `nil` if there is none.
    let socket: ConfiguredAddress?
    /// The lines to print on standard error when everything is ready.
    let lines: [String]

    /// Creates the token and the directory of the socket if they are missing.
    ///
    /// - Parameter isSocketPassed: whether a service manager has passed the socket.
    init(
        _ settings: ClientToolSettings, isStdio: Bool, isListening: Bool, isSocketPassed: Bool,
        environment: [String: String], log: Log
    ) throws(ClientToolSetupError) {
        var lines: [String] = []
        if let path = ProvidersSocket.path(settings, isStdio: isStdio, environment) {
            let address = try ProvidersSocket.address(
                path, isDefault: settings.providersSocket == nil, isPassed: isSocketPassed)
            lines.append("providers  \(address.shown)")
            socket = address
        } else {
            if !isStdio {
                let text = Paths.problem(ofVariable: ProvidersSocket.variable, environment)
                log.info("no socket", ["of": "providers", "text": text])
            }
            socket = nil
        }
        if isListening {
            // The standard error of a server on standard input and output belongs to its host.
            let isShown = !isStdio && environment["JOURNAL_STREAM"] == nil
            let token = try Self.token(settings, environment, isShown: isShown, &lines)
            self.token = Redacted(token)
            var tokens: [String: Redacted<String>] = [:]
            for (channel, path) in settings.channelTokenFiles.sorted(by: { $0.key < $1.key }) {
                let token = try ProviderToken(at: path)
                tokens[channel] = Redacted(token.text)
                lines.append(Self.line(token, of: channel, path, isShown: isShown))
            }
            channelTokens = tokens
        } else {
            token = nil
            channelTokens = [:]
        }
        self.lines = lines
    }

    /// Returns the line about a token. A new token is shown here only, and only to a person.
    ///
    /// Output that other programs record is a log, which contains no secrets.
    private static func line(
        _ token: ProviderToken, of channel: String?, _ path: String, isShown: Bool
    ) -> String {
        let owner = channel.map { "of \($0) " } ?? ""
        return token.isNew && isShown
            ? "token      \(owner)\(token.text)   new, kept in \(path)" : "token      \(owner)in \(path)"
    }

    private static func token(
        _ settings: ClientToolSettings, _ environment: [String: String], isShown: Bool,
        _ lines: inout [String]
    ) throws(ClientToolSetupError) -> String {
        guard let path = settings.tokenFile ?? ProviderToken.defaultPath(environment) else {
            throw ClientToolSetupError(
                "no place for the providers' token: set HOME or XDG_STATE_HOME, "
                    + "or specify a file with --set clientTools.tokenFile=PATH")
        }
        let token = try ProviderToken(at: path)
        lines.append(line(token, of: nil, path, isShown: isShown))
        if settings.auth == .none {
            lines.append("warning    any program on this machine may register tools without it")
        }
        return token.text
    }
}
