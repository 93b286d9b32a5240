/// The settings for tools that other programs provide.
struct ClientToolSettings: Sendable, Hashable {
    /// The credential that programs need to register tools at Stream's endpoint.
    enum Auth: String, CaseIterable, Sendable {
        case token
        /// No credential: any program on this machine may register tools.
        case none
    }

    var auth = Auth.token
    /// The channel that standard input and output serve; `nil` for the default one.
    var channel: String?
    /// The socket where programs of the same user connect without a token; `nil` for the default place over
    /// HTTP, and for none over standard input and output.
    var providersSocket: String?
    /// The file that holds the token; `nil` for the default place.
    var tokenFile: String?
    /// The token files of the channels that have a token of their own, by channel.
    var channelTokenFiles: [String: String] = [:]
}
