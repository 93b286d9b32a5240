import Dispatch
import MCPCore

/// The servers of the daemon: a single one, or one per channel when other programs provide tools.
///
/// All of them offer what the configuration specifies.
final class ServedServers: Sendable {
    /// The server of the endpoint, or of standard input and output.
    let main: MCPServer
    private let channels: (hub: ClientToolHub, contents: ChannelContents)?

    /// Creates an instance with a single server.
    init(_ server: MCPServer) {
        main = server
        channels = nil
    }

    /// Creates an instance with one server for each channel of a hub.
    init(_ main: MCPServer, hub: ClientToolHub, contents: ChannelContents) {
        self.main = main
        channels = (hub, contents)
    }

    /// All servers that are currently served.
    var all: [MCPServer] { channels?.hub.allServers ?? [main] }

    /// Replaces everything offered now with what another server offers, except the tools of other programs.
    ///
    /// Waits until all channels have the new contents; must not be called on a thread of the pool.
    func adopt(_ server: MCPServer) {
        guard let (hub, contents) = channels else { return main.adopt(server) }
        contents.replace(with: server)
        let done = DispatchSemaphore(value: 0)
        Task {
            // Copying what is already built cannot fail.
            try? await hub.reload()
            done.signal()
        }
        done.wait()
    }

    /// Passes on a change of what other servers offer to the servers of channels, which are copies.
    func upstreamsChanged(_ event: UpstreamEvent) {
        guard let (_, contents) = channels else { return }
        switch event {
        case .listsChanged: adopt(contents.current)
        case .resourceUpdated(let uri): for server in all { server.notifyResourceUpdated(uri) }
        case .status: break
        }
    }

    /// Ends the connections of other programs, after the calls in flight have had time to finish.
    func stop() async { await channels?.hub.stop() }
}
