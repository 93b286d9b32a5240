import Synchronization

/// An HTTP/1.1 server on any number of addresses (RFC 9110, RFC 9112).
///
///     let server = try HTTPServer(on: [.tcp(port: 8080)])
///     try server.start(Version())
///
/// It knows nothing of MCP: an MCP server is one handler among others, started by `MCPServer.run`.
public final class HTTPServer: Sendable {
    private let counted = Counted(.httpServer)
    private let group: EventLoopGroup
    private let listeners: [Listening]
    private let sets: [ConnectionSet]
    private let counter: ConnectionCounter
    private let options: HTTPServerOptions
    private let resources: HTTPServerResources
    private let memory: MemoryBudget
    /// The handler, or nil until the server is started.
    private let handler = Mutex<RequestHandler?>(nil)
    private let ending = Mutex<Task<Void, Never>?>(nil)
    /// The addresses, with the actual ports. A client that connects before `start` waits.
    public let addresses: [ListenAddress]

    private typealias Listening = (listener: HTTPListener, loop: EventLoop)

    /// Opens all addresses or none; they are closed if the server is released before it is started.
    ///
    /// - Parameters:
    ///   - policy: the hosts and origins that are allowed; by default loopback names on TCP, and any on unix
    ///     sockets.
    /// - Throws: `ListenError` when an address cannot be used.
    public convenience init(
        on addresses: [ListenAddress], policy: AccessPolicy? = nil,
        options: HTTPServerOptions = HTTPServerOptions(),
        resources: HTTPServerResources = HTTPServerResources()
    ) throws(ListenError) {
        try self.init(
            on: addresses, policy: policy, options: options, resources: resources,
            memory: MemoryBudget(limit: resources.maxMemoryBytes))
    }

    /// - Parameters:
    ///   - memory: the memory budget, which other servers may share.
    ///   - sharesLoops: whether it runs on the loops of this process's clients.
    ///   - authenticates: whether the handler authenticates its callers, so that other machines may reach it.
    init(
        on addresses: [ListenAddress], policy: AccessPolicy?, options: HTTPServerOptions,
        resources: HTTPServerResources, memory: MemoryBudget, sharesLoops: Bool = false,
        authenticates: Bool = false
    ) throws(ListenError) {
        let limit = Self.connectionLimit(options.maxConnections)
        if limit < options.maxConnections {
            resources.log?(
                "limited to \(limit) connections: the open-file limit is too low for "
                    + "\(options.maxConnections)")
        }
        self.options = options
        self.resources = resources
        self.memory = memory
        let counter = ConnectionCounter(limit: limit)
        self.counter = counter
        do {
            let count = max(1, options.loops)
            group =
                try sharesLoops
                ? EventLoopGroup(sharing: count) : EventLoopGroup(count: count, isRunning: false)
        } catch {
            throw ListenError("cannot start: \(error)")
        }
        sets = group.loops.map { ConnectionSet(loop: $0, counter: counter, log: resources.log) }
        (listeners, self.addresses) = try Self.open(
            addresses, policy, sets, counter, isOpen: authenticates)
    }

    /// Begins to serve. It may be called only once.
    ///
    /// - Throws: `ListenError` when the server was already stopped, or when its sockets cannot be watched;
    ///   the server has then ended.
    public func start(_ handler: any HTTPRequestHandler) throws(ListenError) {
        try start(AsyncRequestHandler(handler))
    }

    func start(_ handler: RequestHandler) throws(ListenError) {
        if ending.withLock({ $0 != nil }) { throw ListenError("the server was stopped; create a new one") }
        let isFirst = self.handler.withLock { current in
            defer { current = current ?? handler }
            return current == nil
        }
        precondition(isFirst, "an HTTP server can be started only once")
        SignalWatch.ignoreBrokenPipes()
        group.start()
        let failure = Mutex<IOError?>(nil)
        for (listener, loop) in listeners {
            loop.perform { [self] in
                do throws(IOError) {
                    try listener.start(handler, options: options, resources: resources, memory: memory)
                } catch {
                    failure.withLock { $0 = error }
                }
            }
            guard let error = failure.withLock({ $0 }) else { continue }
            abandon()
            throw ListenError("cannot watch a listening socket: \(error)")
        }
    }

    // MARK: Listening

    private static func open(
        _ addresses: [ListenAddress], _ policy: AccessPolicy?, _ sets: [ConnectionSet],
        _ counter: ConnectionCounter, isOpen: Bool
    ) throws(ListenError) -> ([Listening], [ListenAddress]) {
        var listeners: [Listening] = []
        var taken: [ListenAddress] = []
        for address in addresses {
            switch address.kind {
            case .unix(let path, let mode, let group):
                let socket = try ListenSocket.unix(path: path, mode: mode, group: group)
                let listener = HTTPListener(
                    socket, loop: sets[0].loop, policy: policy ?? .unixSocket, counter: counter,
                    targets: sets)
                listeners.append((listener, sets[0].loop))
                taken.append(address)
            case .inherited(let descriptor, _, let port):
                let socket = try ListenSocket.inherited(descriptor)
                if let port, !isOpen, !socket.isLoopback {
                    throw .needsLoopback("\(address) (port \(port))")
                }
                let standard = port == nil ? AccessPolicy.unixSocket : .loopback
                let listener = HTTPListener(
                    socket, loop: sets[0].loop, policy: policy ?? standard, counter: counter, targets: sets)
                listeners.append((listener, sets[0].loop))
                taken.append(address)
            case .tcp(let host, let port):
                let socket = try ListenSocket.tcp(try Self.address(host, port, isOpen: isOpen))
                let actual = try Self.port(of: socket)
                let listener = HTTPListener(
                    socket, loop: sets[0].loop, policy: policy ?? .loopback, counter: counter, targets: sets)
                listeners.append((listener, sets[0].loop))
                taken.append(.tcp(host: host, port: actual))
            }
        }
        return (listeners, taken)
    }

    private static func address(
        _ host: String, _ port: UInt16, isOpen: Bool
    ) throws(ListenError) -> SocketAddress {
        guard let wanted = SocketAddress(numeric: host == "localhost" ? "127.0.0.1" : host, port: port) else {
            throw ListenError("\(host) is not a numeric address; use 127.0.0.1 or [::1]")
        }
        guard isOpen || wanted.isLoopback else { throw .needsLoopback("\(wanted)") }
        return wanted
    }

    private static func port(of socket: borrowing ListenSocket) throws(ListenError) -> UInt16 {
        do throws(IOError) {
            return try Syscalls.localAddress(socket.descriptor.rawValue)?.port ?? 0
        } catch {
            throw ListenError("cannot determine the port that was assigned: \(error.reason)")
        }
    }

    /// The number of descriptors that connections leave for everything else.
    static let keptDescriptors = 128

    /// Raises the limit of open files as far as possible; returns the number of descriptors left for
    /// connections after the daemon's own needs.
    static func connectionLimit(
        _ wanted: Int, raise: (Int) -> Int = { OpenFileLimit.raise(to: $0) }
    ) -> Int { min(wanted, max(16, raise(wanted + keptDescriptors) - keptDescriptors)) }

    // MARK: Watching

    /// The number of open connections.
    public var connectionCount: Int { counter.current }

    /// Calls `body` once every event loop has finished a turn: never, while one of them is stuck or after the
    /// server has ended.
    public func whenResponsive(_ body: @escaping @Sendable () -> Void) {
        Self.visit(sets.map(\.loop)[...], body)
    }

    private static func visit(_ loops: ArraySlice<EventLoop>, _ body: @escaping @Sendable () -> Void) {
        guard let first = loops.first else { return body() }
        let rest = loops.dropFirst()
        first.execute { visit(rest, body) }
    }

    // MARK: Stopping

    /// Stops at once, for a program whose startup fails later: its addresses are not public yet.
    func abandon() {
        for (listener, loop) in listeners { loop.execute { listener.stop() } }
        for set in sets { set.loop.execute { set.closeAll() } }
        group.stop()
        group.waitUntilStopped()
    }

    /// Stops accepting connections, lets requests in flight finish within the drain time-out, cancels the
    /// rest, and returns.
    ///
    /// A server that is released without being stopped continues to serve.
    public func stop() async {
        let task = ending.withLock { ending in
            let task = ending ?? Task { await end() }
            ending = task
            return task
        }
        await task.value
    }

    private func end() async {
        guard let handler = handler.withLock({ $0 }) else {
            // The loops never ran.
            for (listener, _) in listeners { listener.stop() }
            return
        }
        handler.serverStops()
        for (listener, loop) in listeners { loop.execute { listener.stop() } }
        for set in sets { set.loop.execute { set.drain() } }
        if !(await waitUntilEmpty(atMost: options.drainTimeout)) {
            handler.endInFlight()
            for set in sets { set.loop.execute { set.drain() } }
            _ = await waitUntilEmpty(atMost: .milliseconds(100))
        }
        await handler.settle()
        for set in sets { set.loop.execute { set.closeAll() } }
        group.stop()
        // Once the loops have ended, the blocks sent to them above have run.
        group.waitUntilStopped()
    }

    private func waitUntilEmpty(atMost limit: Duration) async -> Bool {
        let outcome = OneShot<Bool>()
        let loop = sets[0].loop
        loop.execute { loop.schedule(after: limit) { outcome.finish(false) } }
        counter.whenEmpty { outcome.finish(true) }
        return await outcome.value(ifCancelled: false)
    }
}
