/// How tools that other programs bring are taken in.
struct ClientToolSettings: Sendable, Hashable {
    /// What programs need that register tools at Stream's endpoint.
    enum Auth: String, CaseIterable, Sendable {
        case token
        /// Nothing: everybody on this machine may.
        case none
    }

    var auth = Auth.token
    /// The channel that standard input and output serve; nil: the default one.
    var channel: String?
    /// Where programs of the same user connect without a token; nil: the default place over HTTP, none over
    /// standard input and output.
    var providersSocket: String?
    /// Where the token is kept; nil: the default place.
    var tokenFile: String?
    /// Where the tokens of channels are kept that have one of their own, by channel.
    var channelTokenFiles: [String: String] = [:]
}
