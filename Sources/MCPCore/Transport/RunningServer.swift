import Synchronization

/// A server that serves: where, and how to stop it.
public final class RunningServer: Sendable {
    private let http: [HTTPServer]
    private let stdio: StdioServer?
    private let stdioLoop: EventLoop?
    private let tasks: TaskDesk?
    /// A stop was asked for, or standard input has ended.
    private let stopping = OneTimeEvent()

    /// The addresses that are listened on, with the ports that were really taken.
    public var addresses: [ListenAddress] { http.flatMap(\.addresses) }

    init(_ server: MCPServer, _ transports: [ServerTransport]) throws {
        var http: [HTTPServer] = []
        var wantsStdio = false
        for transport in transports {
            switch transport.kind {
            case .stdio: wantsStdio = true
            case .http(let addresses, let policy, let options):
                http.append(
                    try HTTPServer(server, addresses: addresses, policy: policy, options: options))
            }
        }
        self.http = http
        tasks = server.dispatcher.tasks
        guard wantsStdio else {
            stdio = nil
            stdioLoop = nil
            return
        }
        let loop = try EventLoop(label: "mcp.stdio")
        let stopping = stopping
        let stdio = StdioServer(server, streams: try StandardStreams.capture(), loop: loop) {
            stopping.happen()
        }
        self.stdio = stdio
        stdioLoop = loop
        loop.start()
        loop.execute { stdio.start() }
    }

    /// Asks the server to drain and end. False when it was asked before.
    @discardableResult
    public func requestStop() -> Bool { stopping.happen() }

    /// Returns when standard input has ended or a stop was asked for, and everything is drained.
    public func waitUntilEnded() async {
        await stopping.wait()
        // Those that watch a task learn of its end before their streams end.
        tasks?.failAll("The server is stopping")
        await endTransports()
        // Some may have begun while the last requests were answered.
        tasks?.failAll("The server is stopping")
    }

    private func endTransports() async {
        if let stdio {
            stdio.stop()
            await stdio.waitUntilEnded()
            stdioLoop?.stop()
        }
        guard !http.isEmpty else { return }
        await withTaskGroup(of: Void.self) { group in
            for server in http { group.addTask { await server.stop() } }
        }
    }

    /// Drains and ends.
    public func stop() async {
        requestStop()
        await waitUntilEnded()
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
