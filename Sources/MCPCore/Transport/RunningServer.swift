import Synchronization

/// A running server: the addresses it listens on, and the means to stop it.
///
/// A server that is released continues to serve until the process or standard input ends: only `stop` and
/// `requestStop` end it earlier.
public final class RunningServer: Sendable {
    /// The event that a stop was requested or standard input has ended.
    private let stopping = OneTimeEvent()
    /// The task that drains and ends the server when a stop is requested: once, however many callers
    /// request it and wait.
    private let ending: Task<Void, Never>

    /// The addresses that the server listens on, with the ports that were actually assigned.
    public let addresses: [ListenAddress]
    private let live: LiveParts

    /// The number of open HTTP connections.
    public var connectionCount: Int { live.parts?.http.reduce(0) { $0 + $1.connectionCount } ?? 0 }

    /// Calls `body` once every event loop of the server has finished a turn: never, while one of them is
    /// stuck or after the server has ended. For watchdogs.
    public func whenResponsive(_ body: @escaping @Sendable () -> Void) {
        guard let parts = live.parts else { return }
        Self.visit(parts.http[...]) { [stdio = parts.stdio] in
            if let stdio { stdio.loop.execute(body) } else { body() }
        }
    }

    private static func visit(_ servers: ArraySlice<HTTPServer>, _ body: @escaping @Sendable () -> Void) {
        guard let first = servers.first else { return body() }
        let rest = servers.dropFirst()
        first.whenResponsive { visit(rest, body) }
    }

    /// Starts all transports, or none.
    init(_ server: MCPServer, _ transports: [ServerTransport]) throws {
        var parts = Parts(tasks: server.dispatcher.tasks)
        do {
            try parts.start(server, transports, stopping)
        } catch {
            parts.abandon()
            throw error
        }
        addresses = parts.http.flatMap(\.addresses)
        let live = LiveParts(parts)
        self.live = live
        ending = Task { [stopping] in
            await stopping.wait()
            await live.parts?.end()
            live.forget()
        }
    }

    /// Requests that the server drain and end. Returns false when that was already requested.
    @discardableResult
    public func requestStop() -> Bool { stopping.happen() }

    /// Returns when standard input has ended or a stop was requested, and everything is drained.
    public func waitUntilEnded() async { await ending.value }

    /// Drains and ends the server.
    public func stop() async {
        requestStop()
        await waitUntilEnded()
    }
}

/// The parts of a server until it has ended: a handler may hold the server that it belongs to.
private final class LiveParts: Sendable {
    private let state: Mutex<Parts?>

    init(_ parts: Parts) { state = Mutex(parts) }

    var parts: Parts? { state.withLock { $0 } }

    func forget() { state.withLock { $0 = nil } }
}

/// The parts of a running server.
private struct Parts: Sendable {
    var http: [HTTPServer] = []
    var stdio: LineServer?
    /// The loop of `stdio`.
    private var stdioLoops: EventLoopGroup?
    let tasks: TaskManager?

    init(tasks: TaskManager?) { self.tasks = tasks }

    mutating func start(
        _ server: MCPServer, _ transports: [ServerTransport], _ stopping: OneTimeEvent
    ) throws {
        var wantsStdio = false
        for transport in transports {
            switch transport.kind {
            case .stdio: wantsStdio = true
            case .http(let transport): http.append(try transport.start(server))
            }
        }
        guard wantsStdio else { return }
        // Last, because it cannot be undone: code that used 0 and 1 before does not get them back.
        let loops =
            try server.options.sharesLoops
            ? EventLoopGroup(sharing: 1) : EventLoopGroup(count: 1, label: "mcp.stdio", isRunning: false)
        let loop = loops.loops[0]
        let stdio = LineServer(server, streams: try StandardStreams.capture(), loop: loop) {
            stopping.happen()
        }
        self.stdio = stdio
        stdioLoops = loops
        loops.start()
        loop.execute { stdio.start() }
    }

    /// Ends the parts that a failed start has begun.
    func abandon() { for server in http { server.abandon() } }

    func end() async {
        // Clients that watch a task are notified about its end before their streams end.
        tasks?.failAll("The server is stopping")
        if let stdio {
            stdio.stop()
            await stdio.waitUntilEnded()
            stdioLoops?.stop()
        }
        await withTaskGroup(of: Void.self) { group in
            for server in http { group.addTask { await server.stop() } }
        }
        // Some tasks may have begun while the last requests were answered.
        tasks?.failAll("The server is stopping")
    }
}

/// A request to stop that may be made before there is anything to stop.
package final class StopRequest: Sendable {
    private struct State {
        var isRequested = false
        var server: RunningServer?
    }

    private let state = Mutex(State())
    private let requested = OneTimeEvent()

    package init() {}

    package var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Waits for the first request, or until the task is cancelled.
    package func wait() async { await requested.value(ifCancelled: ()) }

    /// Requests that the server drain and end, now or as soon as it runs. Returns false when that was
    /// already requested.
    ///
    /// - Parameter announce: called for the first request, before the server knows of it: the process may end
    ///   at any time afterwards.
    package func request(_ announce: () -> Void = {}) -> Bool {
        let (isFirst, server) = state.withLock { state in
            if !state.isRequested { announce() }
            defer { state.isRequested = true }
            return (!state.isRequested, state.server)
        }
        requested.happen()
        server?.requestStop()
        return isFirst
    }

    package func attach(_ server: RunningServer) {
        let isRequested = state.withLock { state in
            state.server = server
            return state.isRequested
        }
        if isRequested { server.requestStop() }
    }
}
