import MCPCore

/// The settings for tools that other programs provide.
struct ClientToolSettings: Sendable, Hashable {
    /// The credential that programs need to register tools at Stream's endpoint.
    enum Auth: String, CaseIterable, Sendable {
        case token
        /// No credential: any program on this machine may register tools.
        case none
    }

    /// A server that passes events on to Stream Chat clients.
    struct Backend: Sendable, Hashable {
        var url: String
        var token: Redacted<String>?
        var timeout = Duration.seconds(10)

        func make() throws(ClientError) -> StreamChatBackend {
            let token = token
            return try StreamChatBackend(url: url, timeout: timeout) { token?.value }
        }
    }

    var auth = Auth.token
    /// The channel that standard input and output serve; `nil` for the default one.
    var channel: String?
    /// The socket where programs of the same user connect without a token; `nil` for the default place over
    /// HTTP, and for none over standard input and output.
    var providersSocket: String?
    /// The file that holds the token; `nil` for the default place.
    var tokenFile: String?
    /// The origins of web pages that may provide tools; they reach no MCP endpoint.
    var origins: [String] = []
    /// The backend of Stream Chat clients that do not listen to events; `nil` if there is none.
    var backend: Backend?
    /// The token files of the channels that have a token of their own, by channel.
    var channelTokenFiles: [String: String] = [:]
    /// The configured files with tokens.
    var tokenFiles: [String] { ([tokenFile].compactMap(\.self) + channelTokenFiles.values).sorted() }

    /// Returns the reason why the server may not listen here with these settings; `nil` if it may.
    func problem(at address: ConfiguredAddress) -> String? {
        guard auth == .none, !address.isLoopback else { return nil }
        return "\(address.text) can be reached from the network, where anybody could register tools without "
            + "a token: leave out clientTools.auth, or listen on 127.0.0.1"
    }
}
