import MCPApps
import MCPCore
import Synchronization

/// The addresses of the frames of views.
///
/// Each view has an origin of its own below `localhost`. Where such names do not lead here, each server has a
/// port of its own instead.
final class SandboxPorts: Sendable {
    private struct State {
        var usesPorts = false
        var ports: [UInt16] = []
        /// The server that has the port at the same index; nil when the port is free.
        var servers: [HostedServer.ID?] = []
    }

    /// The number of servers whose views can be shown where names below `localhost` do not lead here.
    static let maxPorts = 8

    /// The port of the names.
    let port: UInt16
    private let state = Mutex(State())

    init(port: UInt16) { self.port = port }

    /// Gives servers ports of their own from now on.
    func use(_ ports: [UInt16]) {
        state.withLock { state in
            state.usesPorts = true
            state.ports = ports
            state.servers = ports.map { _ in nil }
        }
    }

    var usesPorts: Bool { state.withLock { $0.usesPorts } }

    /// The sources that the page may show in frames.
    var sources: [String] {
        let ports = state.withLock { $0.ports }
        return ["http://*.localhost:\(port)"] + ports.map { "http://127.0.0.1:\($0)" }
    }

    /// Returns the origin of a view and the address of its frame; nil when no port is left for its server.
    func address(
        ofView view: HostedView.ID, server: HostedServer.ID
    ) -> (origin: String, source: String)? {
        let own: UInt16?? = state.withLock { state in
            guard state.usesPorts else { return .some(nil) }
            guard let index = state.servers.firstIndex(of: server) ?? state.servers.firstIndex(of: nil)
            else { return .none }
            state.servers[index] = server
            return .some(state.ports[index])
        }
        guard let own else { return nil }
        guard let port = own else {
            let origin = "http://\(view).localhost:\(self.port)"
            return (origin, "\(origin)/sandbox")
        }
        return ("http://127.0.0.1:\(port)", "http://127.0.0.1:\(port)/views/\(view)/sandbox")
    }

    /// Releases the port of a server that is gone, for use by another one.
    func release(server: HostedServer.ID) {
        state.withLock { state in
            if let index = state.servers.firstIndex(of: server) { state.servers[index] = nil }
        }
    }

    /// Returns the id of the view that a request to one of these listeners names; nil when it names none.
    func view(host: String, path: String) -> HostedView.ID? {
        let name = host.prefix { $0 != ":" }.lowercased()
        if path == "/sandbox", name.hasSuffix(".localhost") {
            return HostID(rawValue: String(name.dropLast(10)))
        }
        guard name == "127.0.0.1", path.hasPrefix("/views/"), path.hasSuffix("/sandbox") else { return nil }
        let parts = path.split(separator: "/")
        return parts.count == 3 ? HostID(rawValue: String(parts[1])) : nil
    }

    /// Whether views of a server may be requested at this port.
    func serves(server: HostedServer.ID, atPort port: UInt16?) -> Bool {
        state.withLock { state in
            guard let port, state.usesPorts else { return true }
            return state.servers.firstIndex(of: server).map { state.ports[$0] == port } ?? false
        }
    }
}
