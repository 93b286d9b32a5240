import Synchronization

/// The servers behind a server: everything that they offer is offered by one server.
///
/// ```swift
/// let group = UpstreamGroup()
/// group.set([
///     Upstream("time", .command("mcp-server-time")),
///     Upstream("docs", .http("https://mcp.example.com/mcp")),
/// ])
/// let server = MCPServer("all", version: "1.0")
/// group.serve(through: server)
/// try await server.run(.http("127.0.0.1", 8808))
/// await group.stop()
/// ```
/// A server that is not available never hides the others. Its tools stay listed as they were when it was last
/// connected. Use one group for a server.
public final class UpstreamGroup: Sendable {
    private struct State {
        var upstreams: [Upstream] = []
        /// Those that were replaced, until their calls have ended.
        var retired: [Upstream] = []
        var tools = UpstreamNames()
        var prompts = UpstreamNames()
        var servers: [WeakServer] = []
        var arrivals = Arrivals(isOver: true)
        var isStopped = false
    }

    private struct WeakServer: Sendable { weak var server: MCPServer? }

    private let state = Mutex(State())
    private let watches = UpstreamWatches()
    private let onEvent: (@Sendable (String, UpstreamEvent) -> Void)?

    /// Creates a group without servers.
    ///
    /// - Parameter onEvent: receives the name of a server and what happened; it must return quickly.
    public init(onEvent: (@Sendable (_ name: String, UpstreamEvent) -> Void)? = nil) {
        self.onEvent = onEvent
    }

    /// The servers, in the order in which they were set.
    public var upstreams: [Upstream] { state.withLock { $0.upstreams } }

    /// The states of the servers.
    public var statuses: [UpstreamStatus] { upstreams.map(\.status) }

    /// Replaces the servers. Those that are in both lists keep their connections; the others are connected
    /// in the background, or stopped after their calls in flight. A question that a caller has is answered
    /// at the server that asks it, unless no other one has its name now.
    ///
    /// - Parameter grace: the time that calls in flight have, up to their own time-outs; nil for all of it.
    public func set(_ upstreams: [Upstream], grace: Duration? = nil) {
        let (old, arrivals) = state.withLock { state -> ([Upstream], Arrivals) in
            defer { state.upstreams = upstreams }
            let names = Set(upstreams.map(\.name))
            state.tools.keep(names)
            state.prompts.keep(names)
            let isFirst = upstreams.contains { $0.definitions == nil }
            if isFirst { state.arrivals = Arrivals(isOver: false) }
            return (state.upstreams, state.arrivals)
        }
        for upstream in upstreams where !old.contains(where: { $0 === upstream }) {
            if let before = old.first(where: { $0.name == upstream.name }) {
                upstream.takePlace(of: before)
            }
            upstream.observe { [weak self, weak upstream] event in
                if let upstream { self?.received(event, of: upstream) }
            }
            upstream.open()
        }
        if !arrivals.isOver { expect(upstreams, arrivals) }
        publish()
        for upstream in old where !upstreams.contains(where: { $0 === upstream }) {
            let isReplaced = upstreams.contains { $0.name == upstream.name }
            state.withLock { $0.retired.append(upstream) }
            Task { [weak self] in
                await upstream.stop(
                    grace: grace, isReplaced: isReplaced,
                    because: "the server was \(isReplaced ? "given other settings" : "removed")")
                self?.state.withLock { $0.retired.removeAll { $0 === upstream } }
            }
        }
    }

    /// Lists wait for the first attempts, for a limited time.
    private func expect(_ upstreams: [Upstream], _ arrivals: Arrivals) {
        Task {
            try? await Race.run(within: UpstreamLimits.firstList) {
                for upstream in upstreams { await upstream.firstAttempt.wait() }
            }
            arrivals.end()
        }
    }

    /// Offers through a server what the servers of the group offer, now and whenever it changes.
    public func serve(through server: MCPServer) {
        state.withLock { state in
            state.servers.removeAll { $0.server == nil || $0.server === server }
            state.servers.append(WeakServer(server: server))
        }
        publish(to: server)
    }

    /// Stops all servers, after their calls in flight.
    ///
    /// - Parameter grace: the time that calls in flight have.
    public func stop(grace: Duration = .seconds(5)) async {
        let upstreams = state.withLock { state in
            state.isStopped = true
            return state.upstreams + state.retired
        }
        await withTaskGroup { group in
            for upstream in upstreams {
                group.addTask {
                    await upstream.stop(grace: grace, because: "the server in front of it stops")
                }
            }
        }
    }

    // MARK: Publishing

    private func received(_ event: UpstreamEvent, of upstream: Upstream) {
        switch event {
        case .status: break
        case .listsChanged:
            publish()
            for server in servers { server.notifyResourcesChanged() }
        case .resourceUpdated(let uri): for server in servers { server.notifyResourceUpdated(uri) }
        }
        onEvent?(upstream.name, event)
    }

    private var servers: [MCPServer] { state.withLock { $0.servers.compactMap(\.server) } }

    private func publish() {
        watches.update { upstreams }
        for server in servers { publish(to: server) }
    }

    private func publish(to server: MCPServer) {
        // The names cannot be taken twice, so the update cannot throw.
        try? server.update(isReplacement: true) { draft in
            draft.tools.removeAll(where: \.isForwarded)
            draft.prompts.removeAll(where: \.isForwarded)
            draft.completions.removeAll(where: \.isForwarded)
            draft.providers.removeAll { $0 is UpstreamResources }
            state.withLock { state in
                guard !state.isStopped else { return }
                draft.arrivals = state.arrivals
                let isExpected = state.upstreams.contains { $0.definitions == nil }
                draft.watchLater = isExpected ? watches.beginLater : nil
                UpstreamEntries(state.upstreams, watches).add(to: &draft, &state.tools, &state.prompts)
                for upstream in state.upstreams {
                    let tools = state.tools.notes[upstream.name, default: []].map { "the tool \($0)" }
                    let prompts = state.prompts.notes[upstream.name, default: []].map { "the prompt \($0)" }
                    upstream.setNameNotes(tools + prompts)
                }
            }
        }
    }
}
