public import MCPCore
import MCPHarness

/// A server, its connection and its tools.
struct ServerRecord {
    var server: HostedServer
    let connection: ServerConnection
    /// The source for the calls of users and views, whose ids are the host's.
    let source: HostedServerSource
    /// The source for the harness, whose calls have the model's ids.
    let modelSource: HostedServerSource
    var tools: [Tool] = []
    /// All tools under the policies, including those for views.
    var catalog = ToolCatalog()
    /// Whether the server's own name replaces the one under which it was added.
    var takesOwnName = false
    /// The reason for its loss that was last logged.
    var toldReason: String?
    var connectedAt: ContinuousClock.Instant?
    /// The lines that it, and its views, add to the log.
    let logMeter: LogMeter
    /// The number of its own questions since the last yes that the user declined.
    var refusals = 0
    var withdrawals = Withdrawals()
    /// The entries of `resources/list` by address, read when the first view needs one.
    var listed: [String: Resource]?

    /// Whether a reader could take the name for one of this server, now or before it took its own.
    func isAlike(_ name: String) -> Bool {
        [server.name, source.displayName].contains { LookAlike.areAlike($0, name) }
    }
}

extension AppHost {
    /// Adds a server, and connects in the background; events report how that proceeds.
    ///
    /// A server that is lost is tried again, with a pause that grows, until it is removed.
    ///
    /// - Parameters:
    ///   - name: the name that a person reads.
    ///   - takesOwnName: whether the name applies only until the server reports its own, if no other server
    ///     has that, or one that looks like it, and it has no characters that nobody sees or that another
    ///     script has for Latin letters.
    ///   - headers: additional HTTP header fields for this server alone, such as `Authorization`; those of
    ///     `AppHostOptions.client` are sent to all.
    ///   - authorizer: the source of the credentials for this server alone.
    /// - Returns: the server's id.
    /// - Throws: `AppHostError.tooManyServers`.
    @discardableResult
    public func addServer(
        _ target: ClientTarget, name: String, takesOwnName: Bool = false,
        headers: [(String, String)] = [], authorizer: (any RequestAuthorizer)? = nil
    ) async throws(AppHostError) -> HostedServer.ID {
        guard servers.count < Self.maxServers else { throw .tooManyServers }
        let id: HostedServer.ID = nextID("s")
        let logMeter = LogMeter()
        let connection = ServerConnection(
            target, clientOptions(for: id, headers, authorizer, logMeter), firstPause: options.reconnectPause
        ) { [weak self] change in await self?.take(change, from: id) }
        let source = HostedServerSource(
            id: ToolSourceID(id.rawValue), displayName: name, connection: connection,
            onBegin: { [weak self] in await self?.callBegins(HostID(rawValue: $0.callID)) ?? [:] },
            onEnd: { [weak self] in await self?.callEnds(HostID(rawValue: $0.callID), with: $1) })
        let modelSource = HostedServerSource(
            id: ToolSourceID(id.rawValue), displayName: name, connection: connection,
            onBegin: { [weak self] in await self?.modelCallBegins($0) ?? [:] },
            onEnd: { [weak self] in await self?.modelCallEnds($0, with: $1) })
        let server = HostedServer(id: id, name: name, target: target.description)
        // The name that the user gives counts for more than one that another server took.
        for index in servers.indices where !takesOwnName && servers[index].takesOwnName {
            let given = servers[index].source.displayName
            guard servers[index].server.name != given, LookAlike.areAlike(servers[index].server.name, name)
            else {
                continue
            }
            servers[index].server.name = given
            emit(.server(servers[index].server))
        }
        servers.append(
            ServerRecord(
                server: server, connection: connection, source: source, modelSource: modelSource,
                takesOwnName: takesOwnName, logMeter: logMeter))
        emit(.server(server))
        await connection.start()
        return id
    }

    /// The servers, in the order they were added.
    public var hostedServers: [HostedServer] { servers.map(\.server) }

    /// The tools of a server, as last listed; none for a server that does not exist.
    public func tools(of server: HostedServer.ID) -> [Tool] { record(ofServer: server)?.tools ?? [] }

    /// Removes a server: its views are closed, and its calls are cancelled.
    public func removeServer(_ id: HostedServer.ID) async {
        guard let index = servers.firstIndex(where: { $0.server.id == id }) else { return }
        let record = servers.remove(at: index)
        for view in viewOrder where views[view]?.view.server == id { removeView(view) }
        for call in calls.values where call.call.source == .server(id) { call.cancel?() }
        closeQuestions(for: .server(id))
        emit(.serverRemoved(server: id))
        await record.connection.stop()
    }

    /// Reconnects to a server at once.
    public func reconnect(_ id: HostedServer.ID) async throws(AppHostError) {
        guard let record = record(ofServer: id) else { throw .unknownServer(id) }
        letAsk(id)
        await record.connection.reconnect()
    }

    func record(ofServer id: HostedServer.ID) -> ServerRecord? { servers.first { $0.server.id == id } }

    /// The server whose tools a source of the harness holds; nil for a view's.
    func record(of source: ToolSourceID) -> ServerRecord? {
        record(ofServer: HostID(rawValue: source.name))
    }

    /// The server or the view whose tools a source of the harness holds.
    func source(_ source: ToolSourceID) -> HostedCall.Source {
        record(of: source).map { .server($0.server.id) } ?? .view(HostID(rawValue: source.name))
    }

    /// The name of a server for a person; what has none is shown by its identifier.
    func name(of source: HostedCall.Source) -> String {
        switch source {
        case .server(let id): record(ofServer: id)?.server.name ?? id.rawValue
        case .view(let id): views[id].map { "view of \($0.view.serverName)" } ?? id.rawValue
        }
    }

    /// The name of a server, or of the server of a view.
    func serverName(of source: HostedCall.Source) -> String? {
        switch source {
        case .server(let id): record(ofServer: id)?.server.name
        case .view(let id): views[id]?.view.serverName
        }
    }

    private func clientOptions(
        for id: HostedServer.ID, _ headers: [(String, String)], _ authorizer: (any RequestAuthorizer)?,
        _ logMeter: LogMeter
    ) -> ClientOptions {
        var client = options.client
        client.headers += headers
        client.authorizer = authorizer ?? client.authorizer
        client.extensions[UIExtension.identifier] = .object(UIExtension.clientCapability)
        client.followsTasks = true
        client.timeout = options.timeout
        client.onElicit = { [weak self] in
            await self?.elicit($0, from: id) ?? ElicitResult(.cancel)
        }
        client.supportsElicitationURL = true
        if options.model != nil {
            client.onSample = { [weak self] request in
                guard let self else { throw CancellationError() }
                return try await self.sample(request, server: id, view: nil)
            }
        }
        // What is left out is not even passed on: it would wait in line with everything else.
        let tellLeftOut = tellLeftOut(of: id)
        client.onLog = { [weak self] message in
            guard logMeter.admits(orBegin: tellLeftOut) else { return }
            Task { await self?.serverLogged(message, id) }
        }
        client.onServerStderr = { [weak self] line in
            guard logMeter.admits(orBegin: tellLeftOut) else { return }
            Task { await self?.serverWrote(line, id) }
        }
        return client
    }

    /// Returns what reports, after a while, how many lines of a server and its views were left out of the
    /// log.
    func tellLeftOut(of id: HostedServer.ID) -> @Sendable () -> Void {
        { [weak self] in
            Task {
                try? await Task.pause(for: LogMeter.window)
                await self?.leftOut(of: id)
            }
        }
    }

    private func leftOut(of id: HostedServer.ID) {
        guard let record = record(ofServer: id) else { return }
        let count = record.logMeter.takeLeftOut()
        log(
            record.server.name, .warning,
            "\(count) line\(count == 1 ? " was" : "s were") left out: "
                + "more than \(LogMeter.maxLines) in a second")
    }

    private func serverLogged(_ message: LogMessage, _ id: HostedServer.ID) {
        guard let name = record(ofServer: id)?.server.name else { return }
        log(HostLogEntry(name, message.level, message.data))
    }

    private func serverWrote(_ line: String, _ id: HostedServer.ID) {
        guard let name = record(ofServer: id)?.server.name else { return }
        log(name, .info, line)
    }

    private func take(_ change: ServerConnection.Change, from id: HostedServer.ID) async {
        guard let index = servers.firstIndex(where: { $0.server.id == id }) else { return }
        switch change {
        case .state(let state, needsLogin: let needsLogin):
            guard servers[index].server.state != state else { return }
            servers[index].server.state = state
            servers[index].server.needsLogin = needsLogin
            switch state {
            case .lost(let reason):
                closeQuestions(for: .server(id)) { if case .approval = $0 { false } else { true } }
                let connected = servers[index].connectedAt.take()
                let isNews = connected.map { $0.duration(to: .now) >= ServerConnection.longestPause } ?? false
                // Logged once: each further attempt fails for the same reason, and a server may come and go.
                guard isNews || reason != servers[index].toldReason else { break }
                servers[index].toldReason = reason
                log(servers[index].server.name, .warning, reason)
            case .connected: servers[index].connectedAt = .now
            case .connecting: break
            }
        case .opened(let version, let info, let capabilities):
            servers[index].server.version = version
            servers[index].server.info = info
            if servers[index].takesOwnName, let own = info?.name, PlainName.isPlain(own),
                !servers.contains(where: { $0.server.id != id && $0.isAlike(own) })
            {
                servers[index].server.name = own
            }
            servers[index].server.capabilities = capabilities
            servers[index].listed = nil
        case .tools(let tools):
            servers[index].server.toolCount = tools.count
            servers[index].tools = tools
            servers[index].catalog = ToolCatalog(
                tools: tools, of: servers[index].source, options.policies)
            emit(.tools(server: id, tools))
        case .listChanged(let list):
            if list == .resources { servers[index].listed = nil }
            for view in viewOrder where views[view]?.view.server == id {
                update(view) { $0.serverListChanged(list) }
            }
            return
        }
        emit(.server(servers[index].server))
    }
}
