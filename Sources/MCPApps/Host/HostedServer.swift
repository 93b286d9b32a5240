public import MCPCore

/// A server of an `AppHost`.
public struct HostedServer: Sendable, Identifiable {
    /// The state of the connection to a server.
    public enum State: Sendable, Hashable {
        /// The connection is being established.
        case connecting
        /// The server is connected.
        case connected
        /// The server was not reached, or was lost; it is tried again after a pause that grows.
        case lost(String)
    }

    /// The id of the server in its host.
    public let id: HostID<HostedServer>
    /// The name that a person reads.
    public internal(set) var name: String
    /// The location of the server, in words.
    public let target: String
    /// The state of the connection.
    public internal(set) var state: State = .connecting
    /// Whether the server is lost because it requires a login, and none is stored that can be used.
    public internal(set) var needsLogin = false
    /// The revision of MCP in use; `nil` before the first connection.
    public internal(set) var version: ProtocolVersion?
    /// The identity that the server reports.
    public internal(set) var info: Implementation?
    /// The capabilities that the server offers.
    public internal(set) var capabilities = ServerCapabilities()
    /// Whether its questions are refused without asking, because the user declined several in a row; until
    /// the user calls one of its tools or reconnects.
    public internal(set) var isSilenced = false
    /// The number of tools that it has.
    public internal(set) var toolCount = 0

    init(id: HostedServer.ID, name: String, target: String) {
        self.id = id
        self.name = name
        self.target = target
    }
}
