/// The location of a server and the way to reach it: `.command(…)`, `.http(…)`, `.unix(…)` or
/// `.inProcess(…)`.
public struct ClientTarget: Sendable, CustomStringConvertible {
    /// A description of the target for messages.
    public let description: String
    /// The URL, or the path behind a unix socket, whose query may be secret; nil for a program.
    var url: String?
    /// Starts the program or prepares the connection; throws when that is impossible.
    let open: @Sendable (ClientOptions) throws(ClientError) -> any ClientTransport
    /// Returns the target that a redirect leads to; nil if it is not to be followed.
    var redirected: (@Sendable (ClientError) -> ClientTarget?)?

    init(
        _ description: String,
        open: @escaping @Sendable (ClientOptions) throws(ClientError) -> any ClientTransport
    ) {
        self.description = description
        self.open = open
    }
}
