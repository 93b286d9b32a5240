import Synchronization

/// Serves one endpoint on any number of addresses.
final class HTTPServer: Sendable {
    private let counted = Counted(.httpServer)
    private let group: EventLoopGroup
    private let listeners: [(listener: HTTPListener, loop: EventLoop)]
    private let sets: [ConnectionSet]
    private let census: ConnectionCensus
    private let endpoint: StreamableEndpoint
    /// The addresses with the ports that were really taken.
    let addresses: [ListenAddress]

    /// Opens all addresses, or none.
    init(
        _ server: MCPServer, addresses: [ListenAddress], policy: AccessPolicy?, options: HTTPServerOptions
    ) throws(ListenError) {
        let limit = Self.connectionLimit(options.connections)
        if limit < options.connections {
            server.dispatcher.log(
                "at most \(limit) connections: the limit of open files is too low for \(options.connections)")
        }
        census = ConnectionCensus(limit: limit)
        do {
            group = try EventLoopGroup(count: max(1, options.loops), isRunning: false)
        } catch {
            throw ListenError("cannot start: \(error)")
        }
        let census = census
        let log = server.dispatcher.options.log
        sets = group.loops.map { ConnectionSet(loop: $0, census: census, log: log) }
        endpoint = StreamableEndpoint(
            server: server, policy: policy ?? Self.policy(for: addresses), options: options)
        (listeners, self.addresses) = try Self.open(addresses, policy, endpoint, group, sets, census)
        do throws(IOError) {
            // The loops do not run yet, so that this thread may touch what is theirs.
            for (listener, _) in listeners { try listener.start() }
        } catch {
            for (listener, _) in listeners { listener.stop() }
            // A loop lets go of its handlers when it ends.
            group.start()
            group.stop()
            group.waitUntilStopped()
            throw ListenError("cannot watch a listening socket: \(error)")
        }
        group.start()
    }

    /// Loopback names where there is a TCP listener; a unix socket alone takes any.
    private static func policy(for addresses: [ListenAddress]) -> AccessPolicy {
        let hasTCP = addresses.contains { if case .tcp = $0.kind { true } else { false } }
        return hasTCP ? .loopback : .unixSocket
    }

    private static func open(
        _ addresses: [ListenAddress], _ policy: AccessPolicy?, _ endpoint: StreamableEndpoint,
        _ group: EventLoopGroup, _ sets: [ConnectionSet], _ census: ConnectionCensus
    ) throws(ListenError) -> ([(listener: HTTPListener, loop: EventLoop)], [ListenAddress]) {
        var listeners: [(listener: HTTPListener, loop: EventLoop)] = []
        var taken: [ListenAddress] = []
        for address in addresses {
            switch address.kind {
            case .unix(let path, let mode, let group):
                let own = policy == nil ? endpoint.with(policy: .unixSocket) : endpoint
                let socket = try ListenSocket.unix(path: path, mode: mode, group: group)
                listeners.append(
                    (
                        HTTPListener(
                            socket, loop: sets[0].loop, endpoint: own, census: census, targets: sets),
                        sets[0].loop
                    ))
                taken.append(address)
            case .tcp(let host, let port):
                let (opened, actual) = try openTCP(host, port, endpoint, sets, census)
                listeners += opened
                taken.append(.tcp(host: host, port: actual))
            }
        }
        return (listeners, taken)
    }

    private static func openTCP(
        _ host: String, _ port: UInt16, _ endpoint: StreamableEndpoint, _ sets: [ConnectionSet],
        _ census: ConnectionCensus, tries: Int = 8
    ) throws(ListenError) -> ([(listener: HTTPListener, loop: EventLoop)], UInt16) {
        guard let wanted = SocketAddress(numeric: host == "localhost" ? "127.0.0.1" : host, port: port) else {
            throw ListenError("\(host) is not a numeric address; use 127.0.0.1 or [::1]")
        }
        guard wanted.isLoopback else {
            throw ListenError(
                "\(wanted) can be reached from other machines and there is no authentication; "
                    + "listen on 127.0.0.1 and let a proxy with authentication forward to it")
        }
        let probe = try ListenSocket.tcp(wanted, shared: false)
        let bound: SocketAddress
        do throws(IOError) { bound = try Syscalls.localAddress(probe.descriptor.rawValue) ?? wanted } catch {
            throw ListenError("cannot tell the port that \(wanted) got: \(error.reason)")
        }
        guard ListenSocket.canBeShared, sets.count > 1 else {
            let listener = HTTPListener(
                probe, loop: sets[0].loop, endpoint: endpoint, census: census, targets: sets)
            return ([(listener, sets[0].loop)], bound.port)
        }
        _ = consume probe
        var listeners: [(listener: HTTPListener, loop: EventLoop)] = []
        for set in sets {
            let socket: ListenSocket
            do throws(ListenError) { socket = try ListenSocket.tcp(bound, shared: true) } catch {
                // A free port that somebody else was given meanwhile: there are others.
                guard port == 0, tries > 1 else { throw error }
                return try openTCP(host, port, endpoint, sets, census, tries: tries - 1)
            }
            let listener = HTTPListener(
                socket, loop: set.loop, endpoint: endpoint, census: census, targets: [set])
            listeners.append((listener, set.loop))
        }
        return (listeners, bound.port)
    }

    /// Descriptors that connections leave to everything else.
    static let keptDescriptors = 128

    /// Raises the limit of open files as far as it goes, and takes what is left after the daemon's own needs.
    static func connectionLimit(
        _ wanted: Int, raise: (Int) -> Int = { OpenFileLimit.raise(to: $0) }
    ) -> Int { min(wanted, max(16, raise(wanted + keptDescriptors) - keptDescriptors)) }

    // MARK: Stopping

    /// Stops at once, for a start that fails later on: nobody has been told of the addresses.
    func abandon() {
        for (listener, loop) in listeners { loop.execute { listener.stop() } }
        for set in sets { set.loop.execute { set.closeAll() } }
        group.stop()
        group.waitUntilStopped()
    }

    /// Stops accepting, lets what is in flight finish within the drain time, cancels the rest. Once only.
    func stop() async {
        // What changed before the end is told before it; subscriptions end with their connections.
        for dispatcher in dispatchers { dispatcher.subscriptions.bus.deliverNow() }
        // That of the main endpoint are ended by whoever runs the server.
        for endpoint in endpoint.beside?.endpoints ?? [] {
            endpoint.dispatcher.tasks?.failAll(Self.isStopping)
        }
        for (listener, loop) in listeners { loop.execute { listener.stop() } }
        for set in sets { set.loop.execute { set.drain() } }
        if !(await waitUntilEmpty(atMost: endpoint.options.drainTimeout)) {
            for dispatcher in dispatchers { dispatcher.failAll(Self.isStopping) }
            for set in sets { set.loop.execute { set.drain() } }
            _ = await waitUntilEmpty(atMost: .milliseconds(100))
        }
        for set in sets { set.loop.execute { set.closeAll() } }
        group.stop()
        // What was sent to the loops above has run when they have ended.
        group.waitUntilStopped()
    }

    private static let isStopping = "The server is stopping"

    /// Those of all endpoints.
    private var dispatchers: [Dispatcher] {
        [endpoint.dispatcher] + (endpoint.beside?.endpoints ?? []).map(\.dispatcher)
    }

    private func waitUntilEmpty(atMost limit: Duration) async -> Bool {
        let outcome = OnceContinuation<Bool>()
        let loop = sets[0].loop
        return await withCheckedContinuation { continuation in
            outcome.set(continuation)
            loop.execute { loop.schedule(after: limit) { outcome.resume(false) } }
            census.whenEmpty { outcome.resume(true) }
        }
    }
}

/// A continuation that several may want to resume; the first does.
final class OnceContinuation<Value: Sendable>: Sendable {
    private let continuation = Mutex<CheckedContinuation<Value, Never>?>(nil)

    func set(_ continuation: CheckedContinuation<Value, Never>) {
        self.continuation.withLock { $0 = continuation }
    }

    func resume(_ value: Value) {
        let waiting = continuation.withLock { current in
            let waiting = current
            current = nil
            return waiting
        }
        waiting?.resume(returning: value)
    }
}
