import MCPApps
import MCPCore
import Synchronization

/// The two listeners of `host`: one for the page, one for the frames of views. Both are on 127.0.0.1.
final class HostServer: Sendable {
    let token = HostToken()
    /// The origin of the page.
    let origin: String
    private let host: AppHost
    private let ports: SandboxPorts
    private let feed: HostFeed
    private let page: HTTPServer
    private let sandboxes: Mutex<[HTTPServer]>

    /// The address that opens the page: the token is in the fragment, which is never sent anywhere.
    var address: String { "\(origin)/#\(token.text)" }

    /// - Parameters:
    ///   - themes: keeps the colours that the user chooses; nil keeps them for this run only.
    ///   - connect: adds the server at an address that the page gives.
    init(
        _ host: AppHost, _ settings: HostSettings, themes: ThemeFile? = nil,
        connect: @escaping @Sendable (String) async throws(Failure) -> Void
    ) throws {
        // The page's policy names the frames' port, and their policy names the page's port: both listeners
        // are open before either serves requests.
        page = try Self.listen(settings.port, names: ["127.0.0.1"])
        origin = "http://127.0.0.1:\(Self.port(of: page))"
        let sandbox = try Self.listen(settings.sandboxPort, names: ["*.localhost"])
        ports = SandboxPorts(port: Self.port(of: sandbox))
        sandboxes = Mutex([sandbox])
        self.host = host
        feed = HostFeed(host: host, ports: ports, settings: settings, themes: themes)
        try sandbox.start(SandboxHandler(host: host, ports: ports, page: origin))
        do {
            try page.start(
                HostHandler(
                    host: host, feed: feed, ports: ports, token: token, connect: connect,
                    openPorts: { [weak self] in try self?.openPorts() }))
        } catch {
            Task { await sandbox.stop() }
            throw error
        }
    }

    /// Offers servers that respond at these addresses.
    func offer(_ targets: [String]) async { await feed.offer(targets) }

    /// Opens a port for each server whose views cannot have names.
    private func openPorts() throws {
        guard !ports.usesPorts else { return }
        let handler = SandboxHandler(host: host, ports: ports, page: origin)
        var opened: [HTTPServer] = []
        do {
            for _ in 0 ..< SandboxPorts.maxPorts {
                opened.append(try Self.listen(0, names: ["127.0.0.1"]))
                try opened.last?.start(handler)
            }
        } catch {
            for server in opened { Task { await server.stop() } }
            throw error
        }
        ports.use(opened.map(Self.port))
        sandboxes.withLock { $0 += opened }
    }

    /// Ends the streams, then the listeners.
    func stop() async {
        await feed.close()
        let sandboxes = sandboxes.withLock { $0 }
        await withTaskGroup(of: Void.self) { group in
            for server in [page] + sandboxes { group.addTask { await server.stop() } }
        }
    }

    // MARK: Listening

    static let maxConnections = 256
    static let maxBodyBytes = 16 << 20
    static let maxOutputBytes = 128 << 20

    private static func listen(_ port: UInt16, names: [String]) throws -> HTTPServer {
        var options = HTTPServerOptions()
        options.loops = 1
        options.maxConnections = maxConnections
        options.drainTimeout = .milliseconds(200)
        // For a batch of messages, each of which may have the maximum length.
        options.limits.maxBodyBytes = maxBodyBytes
        var resources = HTTPServerResources()
        // The document of a view is sent to the page as one event.
        resources.maxOutputBytes = maxOutputBytes
        resources.maxMemoryBytes = 512 << 20
        return try HTTPServer(
            on: [.tcp(port: port)], policy: AccessPolicy(hosts: .names(names)), options: options,
            resources: resources)
    }

    private static func port(of server: HTTPServer) -> UInt16 { server.addresses.first?.port ?? 0 }
}
