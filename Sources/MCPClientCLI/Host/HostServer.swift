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
    private let page: RunningServer
    private let sandboxes: Mutex<[RunningServer]>

    /// What the page opens with: the token is in the fragment, which is never sent anywhere.
    var address: String { "\(origin)/#\(token.text)" }

    /// - Parameter connect: adds the server at an address that the page gives.
    init(
        _ host: AppHost, _ settings: HostSettings,
        connect: @escaping @Sendable (String) async throws(Failure) -> Void
    ) throws {
        // The page's policy names the frames' port, and their policy the page's: the page is first.
        let late = LateDoor()
        let page = try Self.listen(settings.port, names: ["127.0.0.1"], late)
        let origin = "http://127.0.0.1:\(Self.port(of: page))"
        do {
            let frames = LateDoor()
            let sandbox = try Self.listen(settings.sandboxPort, names: ["*.localhost"], frames)
            ports = SandboxPorts(port: Self.port(of: sandbox))
            frames.open(SandboxDoor(host: host, ports: ports, page: origin))
            sandboxes = Mutex([sandbox])
        } catch {
            Task { await page.stop() }
            throw error
        }
        self.host = host
        self.page = page
        self.origin = origin
        feed = HostFeed(host: host, ports: ports, settings: settings)
        late.open(
            HostDoor(
                host: host, feed: feed, ports: ports, token: token, connect: connect,
                openPorts: { [weak self] in try self?.openPorts() }))
    }

    /// Offers servers that answer at these addresses.
    func offer(_ targets: [String]) async { await feed.offer(targets) }

    /// Opens a port for each server whose views cannot have names.
    private func openPorts() throws {
        guard !ports.usesPorts else { return }
        let door = SandboxDoor(host: host, ports: ports, page: origin)
        var opened: [RunningServer] = []
        do {
            for _ in 0 ..< SandboxPorts.maxPorts {
                opened.append(try Self.listen(0, names: ["127.0.0.1"], door))
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

    private static func listen(
        _ port: UInt16, names: [String], _ door: any HTTPSideDoor
    ) throws -> RunningServer {
        var options = HTTPServerOptions()
        options.endpoint = nil
        options.loops = 1
        options.connections = maxConnections
        options.drainTimeout = .milliseconds(200)
        // A batch of messages, each of which may be as long as one may be.
        options.limits.maxBodyBytes = maxBodyBytes
        options.sideDoor = door
        var server = ServerOptions()
        // Documents of views go to the page as one event.
        server.limits.outputBytes = maxOutputBytes
        server.limits.memoryBytes = 512 << 20
        let policy = AccessPolicy(hosts: .names(names))
        return try MCPServer("host", version: CommandRunner.version, options: server).start([
            .http(.tcp(port: port), policy: policy, options: options)
        ])
    }

    private static func port(of server: RunningServer) -> UInt16 { server.addresses.first?.port ?? 0 }
}

/// A door whose listener has to be there before it: what comes earlier is asked to come again.
private final class LateDoor: HTTPSideDoor {
    private let door = Mutex<(any HTTPSideDoor)?>(nil)

    func open(_ door: any HTTPSideDoor) { self.door.withLock { $0 = door } }

    func server(atPath path: String) -> MCPServer? { nil }

    func handles(path: String) -> Bool { true }

    func answer(_ request: HTTPSideRequest) async -> HTTPSideAnswer {
        guard let door = door.withLock({ $0 }) else { return HostAnswer.text(503, "Starting; try again") }
        return await door.answer(request)
    }
}
