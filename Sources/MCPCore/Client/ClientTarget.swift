/// Where a server is, and how it is reached: `.command(…)`, `.http(…)`, `.unix(…)` or `.inProcess(…)`.
public struct ClientTarget: Sendable, CustomStringConvertible {
    /// The target in words, for messages.
    public let description: String
    /// Starts the program or prepares the connection; throws when that cannot be done at all.
    let open: @Sendable (ClientOptions) throws(ClientError) -> any ClientTransport

    init(
        _ description: String,
        open: @escaping @Sendable (ClientOptions) throws(ClientError) -> any ClientTransport
    ) {
        self.description = description
        self.open = open
    }
}
