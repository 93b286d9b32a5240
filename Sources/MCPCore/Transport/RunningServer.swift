import Synchronization

/// A server that serves: where, and how to stop it.
///
/// A server that is let go goes on serving until the process ends or standard input does: only `stop` and
/// `requestStop` end it.
public final class RunningServer: Sendable {
    /// A stop was asked for, or standard input has ended.
    private let stopping = OneTimeEvent()
    /// Drains and ends when it is asked to: once, however many ask and wait.
    private let ending: Task<Void, Never>

    /// The addresses that are listened on, with the ports that were really taken.
    public let addresses: [ListenAddress]

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
        ending = Task { [stopping, parts] in
            await stopping.wait()
            await parts.end()
        }
    }

    /// Asks the server to drain and end. False when it was asked before.
    @discardableResult
    public func requestStop() -> Bool { stopping.happen() }

    /// Returns when standard input has ended or a stop was asked for, and everything is drained.
    public func waitUntilEnded() async { await ending.value }

    /// Drains and ends.
    public func stop() async {
        requestStop()
        await waitUntilEnded()
    }
}

/// What a running server consists of.
private struct Parts: Sendable {
    var http: [HTTPServer] = []
    var stdio: LineServer?
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
        // Last, because it cannot be taken back: whoever has used 0 and 1 before does not get them again.
        let loop = try EventLoop(label: "mcp.stdio")
        let stdio = LineServer(server, streams: try StandardStreams.capture(), loop: loop) {
            stopping.happen()
        }
        self.stdio = stdio
        loop.start()
        loop.execute { stdio.start() }
    }

    /// Ends what a start that failed has begun.
    func abandon() { for server in http { server.abandon() } }

    func end() async {
        // Those that watch a task learn of its end before their streams end.
        tasks?.failAll("The server is stopping")
        if let stdio {
            stdio.stop()
            await stdio.waitUntilEnded()
            stdio.loop.stop()
        }
        await withTaskGroup(of: Void.self) { group in
            for server in http { group.addTask { await server.stop() } }
        }
        // Some may have begun while the last requests were answered.
        tasks?.failAll("The server is stopping")
    }
}

/// A wish to stop that may come before there is anything to stop.
package final class StopRequest: Sendable {
    private struct State {
        var isRequested = false
        var server: RunningServer?
    }

    private let state = Mutex(State())

    package init() {}

    /// Asks the server to drain and end, now or as soon as it runs. False when that was asked before.
    package func request() -> Bool {
        let (isFirst, server) = state.withLock { state in
            defer { state.isRequested = true }
            return (!state.isRequested, state.server)
        }
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
