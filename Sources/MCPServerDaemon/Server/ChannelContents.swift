import MCPCore
import Synchronization

/// What each channel offers without the tools of other programs: what the configuration says now.
final class ChannelContents: Sendable {
    private let builder: ServerBuilder
    private let server: Mutex<MCPServer>

    /// - Parameter server: has the contents; it is not served itself.
    init(_ server: MCPServer, builder: ServerBuilder) {
        self.builder = builder
        self.server = Mutex(server)
    }

    /// From now on servers are made with the contents of this one.
    func replace(with other: MCPServer) { server.withLock { $0 = other } }

    /// The server of one more channel. Commands run for all channels share their limits.
    func makeServer() -> MCPServer {
        let made = builder.makeServer()
        made.adopt(server.withLock { $0 })
        return made
    }
}
