import Dispatch
import MCPCore

/// The servers of the daemon: one, or one for each channel where other programs bring tools. All of them
/// offer what the configuration says.
final class ServedServers: Sendable {
    /// That of the endpoint, or of standard input and output.
    let main: MCPServer
    private let channels: (hub: ClientToolHub, contents: ChannelContents)?

    /// One server for all.
    init(_ server: MCPServer) {
        main = server
        channels = nil
    }

    /// One server for each channel of a hub.
    init(_ main: MCPServer, hub: ClientToolHub, contents: ChannelContents) {
        self.main = main
        channels = (hub, contents)
    }

    /// All that are served now.
    var all: [MCPServer] { channels?.hub.allServers ?? [main] }

    /// Offers everything that another server offers in place of what is offered now, but for the tools of
    /// other programs. Waits until all channels have it; not for threads of the pool.
    func adopt(_ server: MCPServer) {
        guard let (hub, contents) = channels else { return main.adopt(server) }
        contents.replace(with: server)
        let done = DispatchSemaphore(value: 0)
        Task {
            // Copying what was built already cannot fail.
            try? await hub.reload()
            done.signal()
        }
        done.wait()
    }

    /// Ends the connections of other programs, after the calls in flight had their time.
    func stop() async { await channels?.hub.stop() }
}
