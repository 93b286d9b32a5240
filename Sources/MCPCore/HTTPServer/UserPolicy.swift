/// A policy on the users of this machine whose processes may call an MCP endpoint over TCP without
/// `ServerAuthorization`, or a server that has an `HTTPRequestHandler` alone. For unix sockets, the file's
/// permissions decide.
public enum UserPolicy: Sendable, Hashable {
    /// Every user.
    case any
    /// The user of this process. Linux only: elsewhere the system does not tell the user of a connection, and
    /// every request is refused.
    case own

    /// Whether the system tells the user of a TCP connection.
    public static var isEnforceable: Bool { PeerUser.knowsTCP }
}
