/// The other end of a connection, shared by all its requests.
final class ConnectionPeer: Sendable {
    /// The address as the transport gives it: `192.0.2.7:51234`, `unix:uid=1000,pid=4711`, `stdio`.
    let address: String

    init(_ address: String) { self.address = address }
}
