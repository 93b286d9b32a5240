/// How tools that other programs bring are taken in.
struct ClientToolSettings: Sendable, Hashable {
    /// Who may register tools over TCP.
    enum Auth: String, CaseIterable, Sendable {
        /// Whoever has the token.
        case token
        /// Everybody on this machine.
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
}
