public import MCPCore
import MCPHarness

/// A view, with its state machine and what it waits for.
struct ViewRecord {
    var view: HostedView
    var machine: AppBridgeMachine
    var context: HostContext
    /// The requests of the view that the host is performing.
    var requests: [ViewRequestID: Task<Void, Never>] = [:]
    var timers: [Int: Task<Void, Never>] = [:]
    /// The requests of the host that wait for an answer.
    var answers: [HostRequestID: OneShot<Result<JSONValue, any Error>>] = [:]
    var problem: String?
    /// The tools that the view offers.
    var tools: [Tool] = []
    var toolsReading: Task<Void, Never>?
    /// The context that the view last provided for later turns, and whether the model does not have it yet.
    var modelContext: (content: [ContentBlock], structured: JSONObject?)?
    var isContextNew = false
    /// Whether the context was shown a moment ago, and whether another one came since.
    var contextRests = false
    var hasUnshownContext = false
    var droppedMessages = 0
    /// The number of its questions since the last yes that the user declined.
    var refusals = 0
    var withdrawals = Withdrawals()
    /// The time until which its requests for another mode are refused; each request moves it.
    var modeRefusedUntil: ContinuousClock.Instant?
    /// Waits for the end of that, to tell the user.
    var holding: Task<Void, Never>?
    /// The times at which the view changed its mode within the last 10 s.
    var modeChanges: [ContinuousClock.Instant] = []
    /// What its policy blocked and what could not be loaded, each once, for the log and for its user.
    var failures: [String] = []

    /// The number of these that are kept; the rest is not told.
    static let maxFailures = 50

    /// The likely reasons that the view has not begun: neither what libraries only probe for, nor a second
    /// line about what the policy blocked.
    var reasons: [String] {
        failures.filter { line in
            if ["eval", "wasm-eval"].contains(where: { line.contains(" blocked “\($0)” ") }) { return false }
            let start = "cannot load "
            guard line.hasPrefix(start) else { return true }
            let blocked = "its policy blocked \(line.dropFirst(start.count)) "
            return !failures.contains { $0.hasPrefix(blocked) }
        }
    }
}

extension AppHost {
    // MARK: Loading

    /// Loads the view of a call, once, if the call has one.
    func loadView(_ id: HostedCall.ID) {
        // What a view calls is for that view: it opens no other view.
        guard let record = calls[id], record.call.view == nil, !record.isLoadingView,
            record.call.callingView == nil,
            let tool = record.toolDefinition, self.record(of: record.call.source.id) != nil
        else { return }
        do {
            guard let uri = try tool.uiResourceURI() else { return }
            let loading = calls.values.count { $0.isLoadingView }
            guard views.count + loading < options.maxViews else {
                return change(id) {
                    $0.call.problem =
                        "\(options.maxViews) views are already open, so this call has none; close one"
                }
            }
            change(id) {
                $0.isLoadingView = true
                $0.call.problem = $0.call.state.isOver && $0.call.result != nil ? nil : $0.call.problem
                if !$0.call.state.isOver, $0.hasBegun { $0.call.state = .loadingUI }
            }
            Task {
                await readView(id, uri)
                viewIsLoaded(id)
            }
        } catch {
            change(id) { $0.call.problem = "The view cannot be shown: \(error)" }
        }
    }

    /// Shows the view of a call again, which the user closed; its input and its result are known.
    /// - Throws: `AppHostError.unknownCall` if the call is unknown or its tool has no view.
    public func showView(of call: HostedCall.ID) throws(AppHostError) {
        guard let record = calls[call], canShowView(record) else { throw .unknownCall(call) }
        loadView(call)
    }

    /// Whether the view of a call could be shown now.
    func canShowView(_ record: CallRecord) -> Bool {
        guard record.call.view == nil, !record.isLoadingView, record.call.callingView == nil,
            record.hasBegun, let tool = record.toolDefinition, self.record(of: record.call.source.id) != nil
        else { return false }
        return (try? tool.uiResourceURI()) ?? nil != nil
    }

    private func readView(_ id: HostedCall.ID, _ uri: String) async {
        guard case .server(let server) = calls[id]?.call.source,
            let connection = record(ofServer: server)?.connection
        else { return }
        do {
            let client = try await connection.connected()
            let result = try await client.readResource(uri)
            var resource: UIResource
            do {
                resource = try UIResource.load(uri, read: result, listed: nil)
                // The content's own metadata takes precedence; without it, the listing is consulted.
                if resource.meta == UIResourceMeta(), let listed = await listing(of: uri, server, client) {
                    resource = try UIResource.load(uri, read: result, listed: listed)
                }
            }
            openView(id, resource)
        } catch {
            change(id) {
                $0.isLoadingView = false
                $0.call.problem = "The view cannot be shown: \(Self.words(error))"
                if $0.call.state == .loadingUI { $0.call.state = .calling }
            }
        }
    }

    static func words(_ error: any Error) -> String {
        (error as? ClientError)?.message ?? (error as? MCPError)?.message ?? "\(error)"
    }

    private func listing(of uri: String, _ server: HostedServer.ID, _ client: MCPClient) async -> Resource? {
        if let listed = record(ofServer: server)?.listed { return listed[uri] }
        guard let resources = try? await client.listResources() else { return nil }
        let listed = Dictionary(resources.map { ($0.uri, $0) }) { first, _ in first }
        if let index = servers.firstIndex(where: { $0.server.id == server }) {
            servers[index].listed = listed
        }
        return listed[uri]
    }

    private func openView(_ id: HostedCall.ID, _ resource: UIResource) {
        guard let record = calls[id], let server = self.record(of: record.call.source.id)?.server,
            let tool = record.toolDefinition
        else { return }
        let csp = UICSP(domains: resource.meta.csp, options: options.csp)
        let permissions = resource.meta.permissions.intersection(options.grants)
        let view = HostedView(
            id: Self.newViewID(), server: server.id, serverName: server.name, call: id, tool: tool.name,
            resource: resource, csp: csp, permissions: permissions,
            hasChanged: pins.pin(resource.uri, of: server.name, resource.hash))
        let context = context(of: tool, record.call)
        var limits = AppBridgeLimits()
        limits.teardownTimeout = options.teardownTimeout
        let machine = AppBridgeMachine(
            hostInfo: options.info, capabilities: capabilities(server, csp, permissions), context: context,
            resource: resource, sandbox: SandboxGrant(csp: csp.granted, permissions: permissions),
            limits: limits)
        views[view.id] = ViewRecord(view: view, machine: machine, context: context)
        viewOrder.append(view.id)
        logPolicy(view)
        change(id) {
            $0.isLoadingView = false
            $0.resource = resource
            $0.call.view = view.id
        }
        emit(.viewOpened(view))
        if let partial = record.partial, !record.hasBegun {
            update(view.id) { $0.toolInputPartial(partial) }
        }
        if record.hasBegun { update(view.id) { $0.toolInput(record.call.arguments) } }
        tellEnd(id)
    }

    /// Returns letters and digits that cannot be guessed: the view's origin, and so the address of its
    /// document.
    private static func newViewID() -> HostedView.ID {
        HostID(rawValue: "v" + String(UInt64.random(in: 1 << 60 ... .max), radix: 36))
    }

    private func logPolicy(_ view: HostedView) {
        let source = "view of \(view.serverName)"
        log(source, .info, "\(view.resource.uri) sha256 \(view.resource.hash)")
        log(source, .info, "policy: \(view.csp.header(hostOrigin: "'self'"))")
        if !view.csp.externalDomains.isEmpty {
            let domains = view.csp.externalDomains.joined(separator: ", ")
            log(source, .warning, "the view may reach \(domains)")
        }
        for entry in view.csp.rejected {
            log(
                source, .warning, "left out of the policy, since it is not an origin or not allowed: \(entry)"
            )
        }
    }

    private func capabilities(
        _ server: HostedServer, _ csp: UICSP, _ permissions: Set<UIPermission>
    ) -> HostCapabilities {
        var capabilities = HostCapabilities()
        capabilities.serverTools = server.capabilities.hasTools
        capabilities.serverResources = server.capabilities.hasResources
        capabilities.sampling = options.model != nil
        capabilities.sandbox = SandboxGrant(csp: csp.granted, permissions: permissions)
        return capabilities
    }

    // MARK: The state machine

    /// Lets the state machine of a view do something, and carries out its effects.
    func update(_ id: HostedView.ID, _ body: (inout AppBridgeMachine) -> [AppBridgeMachine.Effect]) {
        guard var record = views[id] else { return }
        let effects = body(&record.machine)
        views[id] = record
        for effect in effects { carryOut(effect, id) }
    }

    private func carryOut(_ effect: AppBridgeMachine.Effect, _ id: HostedView.ID) {
        switch effect {
        case .send(let message): emit(.viewMessage(view: id, message))
        case .perform(let request, let requestID):
            views[id]?.requests[requestID] = Task { await perform(request, requestID, id) }
        case .cancel(let requestID): views[id]?.requests[requestID]?.cancel()
        case .notify(let event): take(event, id)
        case .answered(let requestID, let result):
            views[id]?.answers.removeValue(forKey: requestID)?.finish(result.mapError { $0 })
        case .setTimer(let timer, let delay):
            views[id]?.timers[timer]?.cancel()
            views[id]?.timers[timer] = Task {
                guard (try? await Task.pause(for: delay)) != nil else { return }
                update(id) { $0.timerFired(timer) }
            }
        case .close: removeView(id)
        }
    }

    /// Receives the messages from the frame of a view, in order.
    ///
    /// A message from a view that is closed, or that does not exist, is dropped.
    public func receive(_ messages: [JSONValue], from view: HostedView.ID) {
        for message in messages {
            update(view) { $0.receive(message, now: .now) }
        }
    }

    /// Notes that a message of a view was too long, or not JSON, and was dropped.
    ///
    /// A request is answered with an error: `id` is its id, if that could be read.
    public func receivedUnreadable(_ reason: String, id: JSONValue? = nil, from view: HostedView.ID) {
        dropped(reason, view)
        if let id { update(view) { $0.refuse(id, reason, now: .now) } }
    }

    private func dropped(_ reason: String, _ id: HostedView.ID) {
        guard var record = views[id] else { return }
        record.droppedMessages += 1
        views[id] = record
        // A flood of messages must not become a flood of log lines.
        if record.droppedMessages.nonzeroBitCount == 1 {
            log(
                "view of \(record.view.serverName)", .warning,
                "message dropped (\(record.droppedMessages) so far): \(reason)")
        }
    }

    private func take(_ event: ViewEvent, _ id: HostedView.ID) {
        guard let record = views[id] else { return }
        let source = "view of \(record.view.serverName)"
        switch event {
        case .proxyReady:
            trouble(nil, id)
            viewBegins(id)
        case .initialized: viewIsReady(id)
        case .size(let width, let height): emit(.viewSize(view: id, width: width, height: height))
        case .log(let level, let logger, let data):
            let name = logger.map { "\(source), \($0)" } ?? source
            let server = record.view.server
            guard self.record(ofServer: server)?.logMeter.admits(orBegin: tellLeftOut(of: server)) == true
            else { return }
            log(HostLogEntry(name, level, data))
        case .requestTeardown: closeView(id)
        case .toolsChanged: readViewTools(id)
        case .violation(let directive, let uri):
            // Libraries try this only to find out whether they may.
            let isProbe = uri == "eval" || uri == "wasm-eval"
            let isPlain = directive.allSatisfy { $0 == "-" || "a" ... "z" ~= $0 }
            let name = isPlain ? directive : Self.quoted(directive)
            failed("its policy blocked \(Self.quoted(uri)) (\(name))", isProbe ? .info : .warning, id)
        case .failedToLoad(let what):
            let address = what.dropping(prefix: "cannot load ")
            failed(
                address.map { "cannot load \(Self.quoted($0))" }
                    ?? "it reports an error: \(Self.quoted(what))",
                .warning, id)
        case .usesWebRTC:
            guard !record.view.usesWebRTC else { return }
            changeView(id) { $0.usesWebRTC = true }
            log(source, .warning, "it uses WebRTC, which no policy limits: it can send data to any address")
        case .escape:
            // Where it is in its place already, the page is told so: the keyboard is led out of the view.
            if record.view.mode == .inline {
                emit(.viewMode(view: id, .inline))
            } else {
                setMode(.inline, of: id)
            }
        case .navigatedAway:
            trouble(
                "The view's page is gone: the sandbox stopped the view from leaving it, or the browser went "
                    + "back.", id)
        case .silent:
            let reasons = record.reasons.prefix(4).map { "\n\($0.prefix(1).uppercased())\($0.dropFirst())" }
                .joined()
            trouble(
                "The view did not begin within \(Self.words(AppBridgeLimits().helloTimeout)).\(reasons)", id)
        case .dropped(let reason): dropped(reason, id)
        }
    }

    private func trouble(_ problem: String?, _ id: HostedView.ID) {
        guard let record = views[id], record.problem != problem else { return }
        views[id]?.problem = problem
        emit(.viewProblem(view: id, problem))
        if let problem { log("view of \(record.view.serverName)", .warning, problem) }
    }

    private static func words(_ time: Duration) -> String { "\(time.components.seconds) s" }

    /// Returns what a view says in one line, in quotation marks: nobody takes it for words of the host.
    private static func quoted(_ text: String) -> String {
        "“\(TerminalText.inline(text, limit: 500).replacing("”", with: "\""))”"
    }

    /// Logs a failure once, and keeps it for the case that the view does not begin.
    private func failed(_ text: String, _ level: LoggingLevel, _ id: HostedView.ID) {
        guard let record = views[id], record.failures.count < ViewRecord.maxFailures,
            !record.failures.contains(text)
        else { return }
        views[id]?.failures.append(text)
        log("view of \(record.view.serverName)", level, text)
    }

    /// Changes what the user sees of a view.
    func changeView(_ id: HostedView.ID, _ body: (inout HostedView) -> Void) {
        guard var view = views[id]?.view else { return }
        body(&view)
        views[id]?.view = view
        emit(.view(view))
    }

    /// Notes that the document of a view is loaded, for the first time or again.
    private func viewBegins(_ id: HostedView.ID) {
        views[id]?.failures = []
        // The page that asked is gone: nothing is shown of what waited, and none of it was declined.
        closeQuestions(for: .view(id))
        changeView(id) { $0.isReady = false }
    }

    private func viewIsReady(_ id: HostedView.ID) {
        guard let record = views[id] else { return }
        trouble(nil, id)
        changeView(id) {
            $0.isReady = true
            $0.modes = Set(record.machine.appCapabilities?.availableDisplayModes ?? [])
        }
        if let call = calls[record.view.call], !call.call.state.isOver, call.hasBegun {
            change(record.view.call) { $0.call.state = .ready }
        }
        if record.machine.appCapabilities?.tools != nil { readViewTools(id) }
    }

    // MARK: Closing

    /// Returns a view that is open, with what a sandbox needs to serve its page; `nil` if it is not open.
    public func view(_ id: HostedView.ID) -> HostedView? { views[id]?.view }

    /// Closes a view.
    ///
    /// The view is notified, has `AppHostOptions.teardownTimeout` to shut down, and is removed; a call that
    /// is still in progress is cancelled.
    public func closeView(_ id: HostedView.ID) {
        // It may take its time to shut down, but not the whole window.
        if let mode = views[id]?.view.mode, mode != .inline { setMode(.inline, of: id) }
        update(id) { $0.teardown(reason: "closed") }
    }

    /// Reloads the frame of a view that left its page or does not answer.
    public func reloadView(_ id: HostedView.ID) {
        guard let record = views[id] else { return }
        trouble(nil, id)
        askAgain(id)
        if record.view.mode != .inline { setMode(.inline, of: id) }
        emit(.viewOpened(views[id]?.view ?? record.view))
    }

    /// Notes that the frame of a view now shows something else, and is no longer a view until it is reloaded.
    public func viewLost(_ view: HostedView.ID) {
        trouble("The view's frame left its page; reload it.", view)
    }

    /// Notes that the page of a view no longer answers, or answers again.
    public func viewIsBusy(_ view: HostedView.ID, _ isBusy: Bool) {
        let text = "The view does not respond: its script is busy, or it removed its own page."
        guard isBusy || views[view]?.problem == text else { return }
        trouble(isBusy ? text : nil, view)
    }

    /// Records that the front end removed the frame of a view. The view can be loaded again.
    public func viewStopped(_ view: HostedView.ID, _ reason: ViewStop) {
        guard views[view] != nil else { return }
        closeQuestions(for: .view(view))
        if let mode = views[view]?.view.mode, mode != .inline { setMode(.inline, of: view) }
        trouble(reason.explanation, view)
    }

    func removeView(_ id: HostedView.ID) {
        guard let record = views.removeValue(forKey: id) else { return }
        viewOrder.removeAll { $0 == id }
        for task in record.requests.values { task.cancel() }
        record.toolsReading?.cancel()
        for timer in record.timers.values { timer.cancel() }
        record.holding?.cancel()
        for answer in record.answers.values {
            answer.finish(.failure(MCPError(code: -32000, message: "the view was closed")))
        }
        closeQuestions(for: .view(id))
        for call in calls.values where call.call.callingView == id { call.cancel?() }
        calls[record.view.call]?.cancel?()
        change(record.view.call) { $0.call.view = nil }
        if !record.tools.isEmpty { emit(.viewTools(view: id, [])) }
        emit(.viewClosed(view: id))
    }
}
