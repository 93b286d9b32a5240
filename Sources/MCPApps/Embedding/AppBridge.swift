public import MCPCore

/// A view in an embedding program: the machine, the connection to the frame, and the program's handlers for
/// the view (MCP Apps 2026-01-26). `AppHost` does all of this for programs that do not want to do it
/// themselves.
///
/// Event handlers run one after the other; up to 1,024 events are queued in the meantime, and further ones
/// are dropped.
///
/// ```swift
/// var handlers = AppBridgeHandlers()
/// handlers.onToolCall = { name, arguments in try await client.callTool(name, arguments) }
/// let bridge = AppBridge(transport, hostInfo: info, capabilities: capabilities, handlers: handlers)
/// await bridge.start()
/// await bridge.toolInput(["city": "Bern"])
/// await bridge.toolResult(try await client.callTool("weather", ["city": "Bern"]))
/// ```
public actor AppBridge {
    private let counted = Counted(.appBridge)
    private let transport: any AppBridgeTransport
    private let handlers: AppBridgeHandlers
    private var machine: AppBridgeMachine
    private var context: HostContext
    private var reader: Task<Void, Never>?
    private var timers: [Int: Task<Void, Never>] = [:]
    private var requests: [ViewRequestID: Task<Void, Never>] = [:]
    private var answers: [HostRequestID: OneShot<Result<JSONValue, any Error>>] = [:]
    private var closing: [CheckedContinuation<Void, Never>] = []
    /// Events are delivered one after the other, in order.
    private let events: AsyncStream<ViewEvent>.Continuation
    private let eventStream: AsyncStream<ViewEvent>
    private var teller: Task<Void, Never>?
    /// The number of events that are queued while a handler is running; further ones are dropped.
    static let maxEvents = 1_024

    /// Creates a bridge to one view. Nothing happens before `start`.
    /// - Parameters:
    ///   - resource: the document for a sandbox page; nil when the program loads it into the frame itself.
    ///   - sandbox: the grant of the view, sent to the sandbox page.
    public init(
        _ transport: any AppBridgeTransport, hostInfo: Implementation, capabilities: HostCapabilities,
        context: HostContext = HostContext(), resource: UIResource? = nil, sandbox: SandboxGrant? = nil,
        limits: AppBridgeLimits = AppBridgeLimits(), handlers: AppBridgeHandlers
    ) {
        self.transport = transport
        self.handlers = handlers
        self.context = context
        machine = AppBridgeMachine(
            hostInfo: hostInfo, capabilities: capabilities, context: context, resource: resource,
            sandbox: sandbox, limits: limits)
        (eventStream, events) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingOldest(Self.maxEvents))
    }

    deinit {
        reader?.cancel()
        teller?.cancel()
        for timer in timers.values { timer.cancel() }
    }

    /// Starts to listen to the frame. When the frame is gone, everything that is open ends.
    public func start() {
        guard reader == nil, machine.state != .closed else { return }
        reader = Task { [weak self, transport] in
            for await message in transport.incoming { await self?.receive(message) }
            await self?.frameIsGone()
        }
        teller = Task { [handlers, eventStream] in
            for await event in eventStream { await handlers.take(event) }
        }
    }

    // MARK: The state of the view

    /// The name and version that the view declared; nil before it introduced itself.
    public var appInfo: Implementation? { machine.appInfo }
    /// The capabilities that the view declared; nil before it introduced itself.
    public var appCapabilities: AppCapabilities? { machine.appCapabilities }
    /// Whether the view is active.
    public var isReady: Bool { machine.state == .ready }

    // MARK: Notifying the view

    /// Sends arguments that are still being written.
    public func toolInputPartial(_ arguments: JSONValue) { update { $0.toolInputPartial(arguments) } }
    /// Sends the arguments, once.
    public func toolInput(_ arguments: JSONValue) { update { $0.toolInput(arguments) } }
    /// Sends the result, once.
    public func toolResult(_ result: CallToolResult) { update { $0.toolResult(result) } }
    /// Sends the result exactly as the server wrote it, once.
    public func toolResult(verbatim result: JSONObject) { update { $0.toolResult(verbatim: result) } }
    /// Notifies the view that there will be no result.
    public func toolCancelled(reason: String? = nil) { update { $0.toolCancelled(reason: reason) } }
    /// Sends the changes to the host context.
    public func setContext(_ context: HostContext) {
        self.context = context
        update { $0.contextChanged(context) }
    }
    /// Notifies the view that a list of its server changed.
    public func serverListChanged(_ list: ServerList) { update { $0.serverListChanged(list) } }

    /// Notifies the view that it is being closed, waits for its response for at most
    /// `AppBridgeLimits.teardownTimeout`, and removes the frame.
    public func close(reason: String? = nil) async {
        guard machine.state != .closed else { return }
        await withCheckedContinuation { continuation in
            closing.append(continuation)
            update { $0.teardown(reason: reason) }
        }
    }

    // MARK: Requests to the view

    /// Checks whether the view is alive.
    /// - Throws: `MCPError` -32000 when it is closed or does not respond within `timeout`.
    public func ping(timeout: Duration = .seconds(5)) async throws { _ = try await ask(.ping, timeout) }

    /// Returns the tools that the view offers: all pages, the first 50 tools.
    /// - Throws: `MCPError` when the view returns an error, is closed, or does not respond within `timeout`.
    public func listTools(timeout: Duration = AppToolSource.callTimeout) async throws -> [Tool] {
        try await AppToolSource.allTools { try await ask(.listTools(cursor: $0), timeout) }
    }

    /// Calls a tool of the view.
    /// - Throws: `MCPError` when the view returns an error, is closed, or does not respond within `timeout`;
    ///   `JSONError` when its response is not a tool result.
    public func callTool(
        _ name: String, _ arguments: JSONObject = [:], timeout: Duration = AppToolSource.callTimeout
    ) async throws -> CallToolResult {
        try CallToolResult(json: await ask(.callTool(name: name, arguments: arguments), timeout))
    }

    private func ask(_ request: HostRequest, _ timeout: Duration) async throws -> JSONValue {
        try Task.checkCancellation()
        let (id, effects) = machine.request(request)
        let answer = OneShot<Result<JSONValue, any Error>>()
        answers[id] = answer
        carryOut(effects)
        // A request that is still registered at this point was not answered.
        defer { if answers.removeValue(forKey: id) != nil { update { $0.giveUp(id) } } }
        do {
            return try await Race.run(within: timeout) { try await answer.get() }
        } catch is Race.TimedOut {
            throw AppBridgeMachine.refusal("The view did not answer within \(timeout).")
        }
    }

    // MARK: The machine

    private func receive(_ message: JSONValue) { update { $0.receive(message, now: .now) } }

    private func frameIsGone() {
        guard machine.state != .closed else { return }
        carryOut(machine.abandon())
    }

    private func update(_ body: (inout AppBridgeMachine) -> [AppBridgeMachine.Effect]) {
        carryOut(body(&machine))
    }

    private func carryOut(_ effects: [AppBridgeMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let message): transport.send(message)
            case .perform(let request, let id):
                requests[id] = Task { [handlers, context] in
                    let answer = await handlers.answer(request, context)
                    requests[id] = nil
                    update { $0.answer(id, answer) }
                }
            case .cancel(let id): requests[id]?.cancel()
            case .notify(let event): events.yield(event)
            case .answered(let id, let result):
                answers.removeValue(forKey: id)?.finish(result.mapError { $0 })
            case .setTimer(let id, let delay):
                timers[id]?.cancel()
                timers[id] = Task { [weak self] in
                    guard (try? await Task.pause(for: delay)) != nil else { return }
                    await self?.fire(id)
                }
            case .close: end()
            }
        }
    }

    private func fire(_ timer: Int) { update { $0.timerFired(timer) } }

    private func end() {
        transport.close()
        events.finish()
        for timer in timers.values { timer.cancel() }
        timers = [:]
        for continuation in closing { continuation.resume() }
        closing = []
    }
}
