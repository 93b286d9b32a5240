import Dispatch
import MCPCore
import Synchronization

/// The servers behind this one, from the start to the end, across reloads.
final class UpstreamService: Sendable {
    private struct State {
        /// The server of a start without definitions: a reload may bring some.
        weak var first: MCPServer?
        var running: [UpstreamDefinition: Upstream] = [:]
        /// The notes about each server that were logged.
        var notes: [String: [String]] = [:]
        var onChange: (@Sendable (UpstreamEvent) -> Void)?
    }

    private let state = Mutex(State())
    private let group: Mutex<UpstreamGroup?> = Mutex(nil)
    private let log: Log
    private let supervisor: ProcessSupervisor?
    /// The queue that passes events on, in their order.
    private let queue = DispatchQueue(label: "mcp.upstreams")

    init(log: Log, supervisor: ProcessSupervisor?) {
        self.log = log
        self.supervisor = supervisor
    }

    private var servers: UpstreamGroup {
        group.withLock { group in
            if let group { return group }
            let made = UpstreamGroup { [weak self] name, event in self?.received(event, of: name) }
            group = made
            return made
        }
    }

    /// The states of the servers, in the order of the configuration.
    var statuses: [UpstreamStatus] { group.withLock { $0 }?.statuses ?? [] }

    /// Offers through `server` what the servers offer, and begins to connect them.
    ///
    /// Servers whose definitions have not changed keep their connections, and their lists are read again;
    /// those that failed are tried again at once. Others end after their calls.
    func use(_ definitions: [UpstreamDefinition], through server: MCPServer) {
        // Most configurations have none.
        if definitions.isEmpty, group.withLock({ $0 }) == nil {
            return state.withLock { $0.first = $0.first ?? server }
        }
        let upstreams = state.withLock { state -> [Upstream] in
            var running: [UpstreamDefinition: Upstream] = [:]
            for definition in definitions {
                running[definition] =
                    state.running[definition]
                    ?? definition.makeUpstream(supervisor: supervisor, log: log)
            }
            state.running = running
            return definitions.compactMap { running[$0] }
        }
        for upstream in upstreams { upstream.retry() }
        servers.set(upstreams)
        if let first = state.withLock({ $0.first }) { servers.serve(through: first) }
        servers.serve(through: server)
        for upstream in upstreams { reportNotes(of: upstream.name) }
    }

    /// Receives changes of what is offered, for servers that are copies of the one that `use` received.
    func onChange(_ body: @escaping @Sendable (UpstreamEvent) -> Void) {
        state.withLock { $0.onChange = body }
    }

    /// Waits until the required servers are connected.
    ///
    /// - Throws: the `MCPError` of the first one that cannot be connected.
    func connectRequired() async throws {
        let required = state.withLock { $0.running.filter(\.key.isRequired).map(\.value) }
        for upstream in required { try await upstream.connect() }
    }

    /// Ends all connections and programs, after their calls in flight.
    func stop() async { await group.withLock { $0 }?.stop() }

    private func received(_ event: UpstreamEvent, of name: String) {
        switch event {
        case .status(let status): report(status)
        case .listsChanged, .resourceUpdated:
            if case .listsChanged = event { reportNotes(of: name) }
            guard let onChange = state.withLock({ $0.onChange }) else { return }
            queue.async { onChange(event) }
        }
    }

    private func report(_ status: UpstreamStatus) {
        switch status.state {
        case .ready: log.info("upstream ready", ["mcpServer": status.name, "tools": status.tools])
        case .failed:
            let next =
                status.nextTry.map { $0 > .zero ? "next try in \($0.milliseconds) ms" : "started again" }
                ?? "not tried again"
            log.warning(
                "upstream failed", ["mcpServer": status.name, "error": status.lastError ?? "", "then": next])
        case .idle: log.debug("upstream idle", ["mcpServer": status.name])
        case .connecting, .stopped: break
        }
    }

    private func reportNotes(of name: String) {
        guard let status = statuses.first(where: { $0.name == name }) else { return }
        let fresh = state.withLock { state -> [String] in
            let known = state.notes[name] ?? []
            state.notes[name] = status.notes
            return status.notes.filter { !known.contains($0) }
        }
        for note in fresh { log.warning("upstream warning", ["mcpServer": name, "text": note]) }
    }
}
