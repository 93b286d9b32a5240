import MCPCore

/// The connection to one server of a host: established, watched, and established again if it is lost.
actor ServerConnection {
    private let counted = Counted(.appServer)

    enum Change: Sendable {
        case state(HostedServer.State, needsLogin: Bool = false)
        /// The connection is open; the values describe the server.
        case opened(ProtocolVersion, Implementation?, ServerCapabilities)
        case tools([Tool])
        case listChanged(ServerList)
    }

    private let target: ClientTarget
    private let options: ClientOptions
    private let firstPause: Duration
    private let report: @Sendable (Change) async -> Void
    private var client: MCPClient?
    /// What the connected server tells a model.
    var instructions: String? { client?.instructions }
    private var loop: Task<Void, Never>?
    /// The callers that wait for the next attempt to end.
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiter = 0
    private var pause: Task<Void, Never>?
    /// Whether the next pause is skipped.
    private var isHurried = false
    /// The reason why the client that is now ending was closed.
    private var failure: (any Error)?
    private(set) var tools: [Tool] = []

    /// The longest pause between two attempts; also the time after which a connection counts as a success.
    static let longestPause = Duration.seconds(30)
    /// The time when the client was connected.
    private var since = ContinuousClock.now
    /// Whether the connection has lasted, so that its end counts as a new one.
    private var isSteady: Bool { since.duration(to: .now) >= Self.longestPause }

    init(
        _ target: ClientTarget, _ options: ClientOptions, firstPause: Duration,
        report: @escaping @Sendable (Change) async -> Void
    ) {
        self.target = target
        self.options = options
        self.firstPause = firstPause
        self.report = report
    }

    // MARK: Life cycle

    func start() {
        guard loop == nil else { return }
        loop = Task { await run() }
    }

    func stop() async {
        let running = loop.take()
        running?.cancel()
        let client = client.take()
        wakeWaiting()
        await client?.close()
        // It may still be connecting, and then ends the program that it has started.
        await running?.value
    }

    private func run() async {
        var backoff = Backoff(maximum: Self.longestPause)
        while !Task.isCancelled {
            await report(.state(.connecting))
            do {
                let client = try await MCPClient.connect(target, options: options)
                if Task.isCancelled { return await client.close() }
                self.client = client
                since = .now
                await serve(client)
                // A server that responds and disconnects at once is not retried forever without a pause.
                if isSteady { backoff.reset() }
            } catch {
                if Task.isCancelled { return }
                await lost(error)
            }
            wakeWaiting()
            guard !Task.isCancelled, let delay = backoff.next(firstPause) else { return }
            if isHurried {
                isHurried = false
                continue
            }
            let pause = Task { _ = try? await Task.pause(for: delay) }
            self.pause = pause
            await withTaskCancellationHandler {
                await pause.value
            } onCancel: {
                pause.cancel()
            }
            self.pause = nil
        }
    }

    /// Serves a client until the connection is lost.
    private func serve(_ client: MCPClient) async {
        await report(
            .opened(client.protocolVersion, client.serverInfo, client.serverCapabilities))
        await readAll(client)
        await report(.state(.connected))
        wakeWaiting()
        let watch = Task { await follow(client) }
        let end = await withTaskCancellationHandler {
            await client.waitUntilClosed()
        } onCancel: {
            Task { await client.close() }
        }
        watch.cancel()
        self.client = nil
        defer { failure = nil }
        // A caller that requested another connection knows why this one has ended.
        if !Task.isCancelled, failure != nil || !isHurried { await lost(failure ?? end) }
    }

    private func lost(_ error: any Error) async {
        let failure = error as? ClientError
        let needsLogin = if case .login = failure?.authorization?.remedy { true } else { false }
        await report(.state(.lost(failure?.message ?? "\(error)"), needsLogin: needsLogin))
    }

    /// Reads the tools, and reports that every list may be another one by now.
    private func readAll(_ client: MCPClient) async {
        await readTools(client)
        for list in ServerList.allCases { await report(.listChanged(list)) }
    }

    private func readTools(_ client: MCPClient, ifOther: Bool = false) async {
        guard client.serverCapabilities.hasTools else { return await take([]) }
        // The previous tools stay if the server does not list them: a call then reports what is wrong.
        guard let tools = try? await client.listTools(), !ifOther || tools != self.tools else { return }
        await take(tools)
    }

    private func take(_ tools: [Tool]) async {
        self.tools = tools
        await report(.tools(tools))
    }

    /// Reads the lists again when the server reports that they changed, for as long as this client exists.
    ///
    /// A server that cannot report changes is read once. One that ends or refuses its subscriptions may be
    /// about to disconnect, which the next subscription shows.
    private func follow(_ client: MCPClient) async {
        var backoff = Backoff(maximum: Self.longestPause)
        var isFirst = true
        while !Task.isCancelled {
            let subscription: Subscription
            do {
                subscription = try await client.listen(.lists)
            } catch {
                await failed(error, of: client)
                // Otherwise the server cannot report changes.
                guard SubscriptionRefusal.mayPass(error), let delay = backoff.next(firstPause) else { return }
                try? await Task.pause(for: delay)
                isFirst = false
                continue
            }
            client.dropCache()
            if isFirst {
                // What had changed before it began was not reported.
                await readTools(client, ifOther: true)
            } else {
                // It may be another server by now.
                await readAll(client)
            }
            isFirst = false
            if await read(subscription, of: client) { backoff.reset() }
            await subscription.cancel()
            guard let delay = backoff.next(firstPause) else { return }
            try? await Task.pause(for: delay)
        }
    }

    /// Reads a subscription until it ends, and returns whether it reported a change.
    private func read(_ subscription: Subscription, of client: MCPClient) async -> Bool {
        var hasTold = false
        do {
            for try await change in subscription {
                hasTold = true
                switch change {
                case .toolsListChanged:
                    await readTools(client)
                    await report(.listChanged(.tools))
                case .resourcesListChanged: await report(.listChanged(.resources))
                case .promptsListChanged: await report(.listChanged(.prompts))
                case .resubscribed: await readAll(client)
                case .resourceUpdated, .task: continue
                }
            }
        } catch {}
        return hasTold
    }

    // MARK: Use

    /// Returns the connected client.
    ///
    /// A connection that was lost is waited for, for as long as the attempt that is in progress, or begins
    /// now, takes.
    /// - Throws: `ClientError` if there is none after that.
    func connected() async throws -> MCPClient {
        if let client { return client }
        pause?.cancel()
        if loop != nil { await nextAttempt() }
        guard let client else {
            throw ClientError(
                .cannotConnect, "\(target) cannot be reached; nothing was sent",
                hint: "reconnecting is automatic; the reconnect button tries at once")
        }
        return client
    }

    private func nextAttempt() async {
        lastWaiter += 1
        let id = lastWaiter
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume() }
                waiting[id] = continuation
            }
        } onCancel: {
            Task { await self.giveUp(id) }
        }
    }

    private func giveUp(_ id: Int) { waiting.removeValue(forKey: id)?.resume() }

    private func wakeWaiting() {
        for continuation in waiting.values { continuation.resume() }
        waiting = [:]
    }

    /// Reconnects at once.
    func reconnect() async {
        if let client {
            // The loop continues on its own when the connection has ended.
            isHurried = true
            await client.close()
        } else {
            pause?.cancel()
        }
    }

    /// Reconnects after a call that did not reach the server. The exit of a program is noticed on its own.
    func failed(_ error: any Error, of client: MCPClient) async {
        guard let error = error as? ClientError,
            error.kind == .cannotConnect || error.kind == .sessionExpired,
            self.client === client
        else { return }
        isHurried = isSteady
        failure = error
        await client.close()
    }
}
