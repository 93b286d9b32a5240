public import MCPCore

/// A server of an `AppHost`.
public struct HostedServer: Sendable, Identifiable {
    /// Whether the server can be called.
    public enum State: Sendable, Hashable {
        /// Being reached.
        case connecting
        /// Reached.
        case connected
        /// Not reached, or lost; it is tried again after a pause that grows.
        case lost(String)
    }

    /// Names the server in its host.
    public let id: HostID<HostedServer>
    /// What a person reads.
    public internal(set) var name: String
    /// Where it is, in words.
    public let target: String
    /// Whether it can be called.
    public internal(set) var state: State = .connecting
    /// The revision of MCP that is spoken; nil before the first connection.
    public internal(set) var version: ProtocolVersion?
    /// Who it says it is.
    public internal(set) var info: Implementation?
    /// What it offers.
    public internal(set) var capabilities = ServerCapabilities()
    /// How many tools it has.
    public internal(set) var toolCount = 0

    init(id: HostedServer.ID, name: String, target: String) {
        self.id = id
        self.name = name
        self.target = target
    }
}
