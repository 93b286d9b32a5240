import Synchronization

/// A server behind a server: what it offers is offered here, and calls are passed on to it.
///
/// It is connected in the background or when it is needed, and again after its connection has ended. While it
/// is away, what it offered last stays listed, and calls fail with the reason.
public final class Upstream: Sendable {
    private let counted = Counted(.upstream)

    /// The name of the server, which appears in the names of its tools when those are not unique.
    public let name: String
    let options: UpstreamOptions
    /// What its errors and its lines in logs must not contain.
    let secrets: UpstreamSecrets
    /// Whether the server has to be opened by `initialize`, once that is known.
    let profiles = ServerProfileCache.handshakes()
    private let target: ClientTarget
    private let clock: any TimeSource
    let patterns: (tools: UpstreamFilter, resources: UpstreamResourceFilter, prompts: UpstreamFilter)
    private let calls = Atomic<Int>(0)
    private let errors = Atomic<Int>(0)

    private struct State {
        var links: [String: Link] = [:]
        /// What it offers here, and all of what it lists.
        var definitions: UpstreamDefinitions?
        var listed: UpstreamDefinitions?
        /// What operators should know about the names under which callers see what it offers.
        var nameNotes: [String] = []
        var onEvent: (@Sendable (UpstreamEvent) -> Void)?
        var isStopped = false
        var lastStatus: UpstreamStatus?
        /// The principal whose connection has changed last; empty for the shared one.
        var lastChanged = ""
        /// Calls at servers before 2026-07-28 whose questions are with a caller of 2026-07-28.
        var held = HeldExchanges()
        /// The server that has taken the place of this one.
        var successor: Upstream?
    }

    /// A connection with the places for its calls.
    struct Link: Sendable {
        let connection: UpstreamLink
        let slots: UpstreamSlots
        /// What errors that come over it must not contain; a reload does not change it.
        let secrets: UpstreamSecrets
    }

    private let state = Mutex(State())
    /// The watched resources of the shared connection.
    private let watched = WatchedResources()
    /// Happens when the first attempt to read the lists is over.
    let firstAttempt = OneTimeEvent()

    /// Creates a server behind a server, which is not connected yet.
    ///
    /// - Parameter name: distinguishes the server from others; it appears in names of tools and in errors.
    public convenience init(_ name: String, _ target: ClientTarget, options: UpstreamOptions = .init()) {
        self.init(name, target, options: options, clock: SystemClock())
    }

    init(_ name: String, _ target: ClientTarget, options: UpstreamOptions, clock: any TimeSource) {
        self.name = name
        self.target = target
        self.options = options
        secrets = UpstreamSecrets(options.secrets)
        self.clock = clock
        patterns = (
            UpstreamFilter(options.tools), UpstreamResourceFilter(options.resources),
            UpstreamFilter(options.prompts)
        )
    }

    // MARK: State

    /// The state of the server.
    public var status: UpstreamStatus {
        let (links, lastChanged, definitions, nameNotes) = state.withLock {
            ($0.links, $0.lastChanged, $0.definitions, $0.nameNotes)
        }
        let shared = links[""]?.connection.status ?? (state: .idle, lastError: nil, nextTry: nil)
        // Callers with connections of their own notice first that the server is away.
        let last = links[lastChanged]?.connection.status ?? shared
        let own = last.state == .failed || shared.state == .failed && last.state == .ready ? last : shared
        var status = UpstreamStatus(name: name, state: own.state)
        status.calls = calls.load(ordering: .relaxed)
        status.errors = errors.load(ordering: .relaxed)
        // The name stands beside it.
        status.lastError = own.lastError.map {
            $0.hasPrefix("\(name): ") ? String($0.dropFirst(name.count + 2)) : $0
        }
        status.nextTry = own.nextTry
        status.tools = definitions?.tools.count ?? 0
        status.notes = (definitions?.notes ?? []) + nameNotes
        return status
    }

    /// What the server offers, reduced to what its patterns allow; nil until it was read once.
    var definitions: UpstreamDefinitions? { state.withLock { $0.definitions } }

    func setNameNotes(_ notes: [String]) { state.withLock { $0.nameNotes = notes } }

    func observe(_ onEvent: @escaping @Sendable (UpstreamEvent) -> Void) {
        state.withLock { $0.onEvent = onEvent }
        watched.observe { onEvent(.resourceUpdated($0)) }
    }

    private func report(_ event: UpstreamEvent) { state.withLock { $0.onEvent }?(event) }

    private func changed(_ principal: String) {
        state.withLock { $0.lastChanged = principal }
        statusChanged()
    }

    private func statusChanged() {
        let status = status
        let isNew = state.withLock { state -> Bool in
            let last = state.lastStatus
            state.lastStatus = status
            return last?.state != status.state || last?.lastError != status.lastError
        }
        if status.state != .connecting, status.state != .idle { firstAttempt.happen() }
        if isNew { report(.status(status)) }
    }

    // MARK: Connections

    /// Connects in the background and reads what the server offers.
    func open() { try? link(for: "").connection.open() }

    /// Connects at once if the last attempt failed, without waiting for the time of the next one; otherwise
    /// reads the lists again.
    package func retry() {
        switch status.state {
        case .failed: open()
        case .ready:
            Task { [weak self] in
                guard let link = try? self?.link(for: "").connection, let client = try? await link.acquire()
                else { return }
                await self?.refresh(client)
                link.release()
            }
        case .idle, .connecting, .stopped: break
        }
    }

    /// Takes the place of an earlier server of this name: the answers to the questions that its callers have
    /// come here, and so do calls that find it stopped. What it listed stays until this one has listed more.
    func takePlace(of old: Upstream) {
        let (held, listed) = old.state.withLock { state in
            state.successor = self
            return (state.held, state.listed)
        }
        let kept = listed?.kept(reviewed: old.options.pins, now: options.pins)
        state.withLock { state in
            state.held = held
            guard state.listed == nil, let kept else { return }
            (state.listed, state.definitions) = (kept, offered(of: kept))
        }
    }

    var held: HeldExchanges { state.withLock { $0.held } }

    var successor: Upstream? { state.withLock { $0.successor } }

    /// Closes all connections, after the calls that need them, which have this much time, or nil for as much
    /// as each has anyway.
    ///
    /// - Parameters:
    ///   - isReplaced: whether another server receives the answers to open questions; they cannot come else.
    ///   - reason: what calls fail with that have not ended then.
    func stop(grace: Duration?, isReplaced: Bool = false, because reason: String) async {
        let (links, held) = state.withLock { state in
            state.isStopped = true
            return (Array(state.links.values), state.held)
        }
        if !isReplaced { held.cancelAll() }
        firstAttempt.happen()
        await withTaskGroup { group in
            for link in links { group.addTask { await link.connection.stop(grace: grace, because: reason) } }
        }
    }

    /// Waits until the server is connected.
    ///
    /// - Throws: `MCPError` -32603 with the reason when it cannot be connected.
    public func connect() async throws {
        do {
            let link = try link(for: "").connection
            _ = try await link.acquire()
            link.release()
        } catch let failure as UpstreamFailure {
            throw failure.error
        }
    }

    /// Returns the connection of a caller: the shared one, or that of its principal.
    func link(for principal: String) throws -> Link {
        try state.withLock { try link(for: principal, &$0) }
    }

    /// Returns the connection of a caller, which stays for its call until `endLease`; nil once the server is
    /// being stopped.
    func lease(for principal: String) throws -> Link? {
        try state.withLock { state in
            if state.isStopped { return nil }
            let link = try link(for: principal, &state)
            // Nobody stops it or gives it up before the call has it.
            link.connection.lease()
            return link
        }
    }

    private func link(for principal: String, _ state: inout State) throws -> Link {
        if let link = state.links[principal] { return link }
        if state.isStopped { throw UpstreamFailure("\(name): the server was removed") }
        if state.links.count >= UpstreamLimits.connections {
            guard let idle = state.links.first(where: { $0.key != "" && $0.value.connection.isUnused })
            else {
                throw MCPError(
                    code: MCPError.overloadedCode,
                    message: "\(name): too many principals use this server; try again later")
            }
            state.links[idle.key] = nil
            Task { await idle.value.connection.stop(grace: .zero, because: "it was not used") }
        }
        // Callers without a principal share one also where each principal has its own.
        let areShared = !options.isPerPrincipal || principal.isEmpty
        let slots = UpstreamSlots(options.concurrency, areShared: areShared)
        let link = Link(connection: makeLink(principal), slots: slots, secrets: secrets)
        state.links[principal] = link
        return link
    }

    private func makeLink(_ principal: String) -> UpstreamLink {
        let isShared = principal.isEmpty
        let timing = UpstreamLink.Timing(
            idle: isShared ? options.idle : options.idle ?? .seconds(300),
            restarts: options.restarts)
        let describe: @Sendable (any Error) -> UpstreamFailure = { [name, secrets] in
            UpstreamFailure(name, $0, hiding: secrets)
        }
        let changes = ListChanges()
        return UpstreamLink(
            timing, clock: clock,
            connect: { [target, weak self] () throws(UpstreamFailure) in
                guard var options = self?.clientOptions else { throw UpstreamFailure("removed") }
                options.isOfOnePerson = !isShared
                do {
                    return try await MCPClient.connect(target, options: options)
                } catch {
                    throw describe(error)
                }
            },
            onReady: { [weak self] client in
                if isShared { await self?.isReady(client, changes) }
            },
            onChange: { [weak self] in self?.changed(principal) },
            describe: describe)
    }

    // MARK: Lists

    private func isReady(_ client: MCPClient, _ changes: ListChanges) async {
        // Where a subscription begins at once, the lists are read behind it, once.
        let early = Task { try await client.listen(SubscriptionFilter.lists) }
        let isBehind = (try? await Race.run(within: UpstreamLimits.earlyTime) { await early.result }) != nil
        await refresh(client)
        Task { [weak self, isBehind] in
            var (early, isBehind) = (Optional(early), isBehind)
            var isFirst = true
            var pause = UpstreamLimits.refreshPause.first
            // A server that ends its streams, as at a restart, may offer something else afterwards.
            while true {
                let start = SystemClock().now
                do {
                    let begun = early.take() ?? Task { try await client.listen(SubscriptionFilter.lists) }
                    let subscription = try await begun.value
                    if subscription.accepted.isEmpty { return }
                    // What had changed before it began was not reported.
                    if !isBehind { await self?.refresh(client) }
                    isBehind = false
                    await changes.follow(subscription) { [weak self] in await self?.refresh(client) }
                    isFirst = false
                } catch {
                    isBehind = false
                    // A connection that has worked is given up when it fails.
                    guard SubscriptionRefusal.mayPass(error), isFirst || error is MCPError else {
                        self?.cannotListen(client, error, isFirst: isFirst)
                        return
                    }
                }
                let isShort = SystemClock().now - start < UpstreamLimits.goodRun
                pause = isShort ? min(pause * 2, UpstreamLimits.refreshPause.longest) : .seconds(1)
                guard self?.isCurrent(client) == true else { return }
                try? await Task.pause(for: pause)
                guard self?.isCurrent(client) == true else { return }
            }
        }
        watched.connected(client)
    }

    private func isCurrent(_ client: MCPClient) -> Bool {
        state.withLock { $0.links[""] }?.connection.isCurrent(client) ?? false
    }

    /// Gives up a connection to a server that is away. One that has no such streams is none.
    private func cannotListen(_ client: MCPClient, _ error: any Error, isFirst: Bool) {
        guard let error = error as? ClientError, !isFirst || error.kind == .cannotConnect else { return }
        state.withLock { $0.links[""] }?.connection.drop(client, error)
    }

    private func refresh(_ client: MCPClient) async {
        let old = state.withLock { $0.listed }
        let listed = await UpstreamDefinitions.read(
            from: client, old: old, pins: options.pins, hiding: secrets)
        let new = offered(of: listed)
        let isNew = state.withLock { state -> Bool in
            guard !state.isStopped else { return false }
            defer { (state.listed, state.definitions) = (listed, new) }
            return state.definitions.map { !$0.isSame(as: new) } ?? true
        }
        if isNew {
            report(.listsChanged)
            watched.listsChanged()
        }
        firstAttempt.happen()
    }

    /// Returns what the settings let through of what the server lists.
    private func offered(of listed: UpstreamDefinitions) -> UpstreamDefinitions {
        var offered = listed
        offered.tools.removeAll { !patterns.tools.allows($0.name) }
        offered.prompts.removeAll { !patterns.prompts.allows($0.name) }
        offered.resources.removeAll { !patterns.resources.shows(uri: $0.uri) }
        offered.templates.removeAll { !patterns.resources.shows(template: $0.uriTemplate) }
        for index in offered.tools.indices {
            if let annotations = options.annotations[offered.tools[index].name] {
                offered.tools[index].annotations = annotations
            }
        }
        return offered
    }

    /// Returns whether a URI may be read at this server.
    func allows(_ uri: String) -> Bool { patterns.resources.shows(uri: uri) }

    // MARK: Watched resources

    /// Asks for notifications about a resource, for as long as the returned object exists; returns nil when
    /// the server sends none, or when there are too many.
    ///
    /// - Parameter mayHaveChanged: whether that is the first notification, as changes were missed.
    func watch(_ uri: String, for principal: String, mayHaveChanged: Bool = false) -> ResourceWatch? {
        guard definitions?.reportsResourceChanges == true, let link = try? link(for: "") else { return nil }
        return watched.watch(uri, for: principal, at: link.connection, mayHaveChanged: mayHaveChanged)
    }

    // MARK: Calls

    /// Counts a call; the server did not answer it if `failed` is true.
    func count(failed: Bool) {
        if failed {
            errors.add(1, ordering: .relaxed)
        } else {
            calls.add(1, ordering: .relaxed)
        }
    }
}
