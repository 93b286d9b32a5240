import MCPCore
import Synchronization

/// The contents that every channel offers besides the tools of other programs: those of the current
/// configuration.
final class ChannelContents: Sendable {
    private let builder: ServerBuilder
    private let server: Mutex<MCPServer>

    /// - Parameter server: the server that holds the contents; it is not served itself.
    init(_ server: MCPServer, builder: ServerBuilder) {
        self.builder = builder
        self.server = Mutex(server)
    }

    /// The server that holds the contents.
    var current: MCPServer { server.withLock { $0 } }

    /// Uses the contents of another server for every server made from now on.
    func replace(with other: MCPServer) { server.withLock { $0 = other } }

    /// Makes the server of another channel. Commands share their limits across all channels.
    func makeServer(_ channel: String) -> MCPServer {
        let made = builder.makeServer(channel: channel)
        made.adopt(server.withLock { $0 })
        return made
    }
}
