import MCPApps
import MCPCore
import MCPHarness
import Synchronization
import TestSupport

/// A host with servers in this process, everything that it told, and views that the test plays.
final class HostFixture: Sendable {
    let host: AppHost
    private let events: ToldEvents
    private let reader: Task<Void, Never>

    /// - Parameter now: by default, time stands still for the limits of views.
    init(
        _ options: AppHostOptions = HostFixture.options(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { [start = ContinuousClock.now] in start }
    ) async {
        host = AppHost(options, now: now)
        let told = ToldEvents()
        let events = await host.events()
        reader = Task { for await event in events { told.add(event) } }
        self.events = told
    }

    private final class ToldEvents: Sendable {
        private let state = Mutex<[HostEvent]>([])
        func add(_ event: HostEvent) { state.withLock { $0.append(event) } }
        var all: [HostEvent] { state.withLock { $0 } }
    }

    /// Everything runs without asking, and nothing waits long.
    static func options(
        _ override: ToolPolicy? = .automatic, model: (any LanguageModel)? = nil
    ) -> AppHostOptions {
        var options = AppHostOptions()
        options.policies.override = override
        options.model = model
        options.reconnectPause = .milliseconds(5)
        options.timeout = .seconds(30)
        return options
    }

    var all: [HostEvent] { events.all }

    /// The first that fits, as soon as there is one.
    func first<T>(_ pick: (HostEvent) -> T?) async throws -> T {
        _ = await comesTrue { events.all.contains { pick($0) != nil } }
        guard let found = events.all.lazy.compactMap(pick).first else { throw NothingThere() }
        return found
    }

    /// A call as it was told last, once it is in a state that fits.
    func call(
        _ id: HostedCall.ID, _ fits: (HostedCall) -> Bool = { $0.state.isOver }
    ) async throws -> HostedCall {
        try await first { event in
            if case .call(let call) = event, call.id == id, fits(call) { call } else { nil }
        }
    }

    /// The states that a call went through.
    func states(of id: HostedCall.ID) -> [HostedCall.State] {
        var states: [HostedCall.State] = []
        for case .call(let call) in all where call.id == id && states.last != call.state {
            states.append(call.state)
        }
        return states
    }

    /// Adds a server, and waits for it.
    func add(_ server: MCPServer, as name: String) async throws -> HostedServer.ID {
        let id = try await host.addServer(.inProcess(server), name: name)
        _ = try await first { event in
            if case .server(let server) = event, server.id == id, server.state == .connected {
                true
            } else {
                nil
            }
        }
        return id
    }

    /// The question that is asked next, of those with this view.
    func question(_ number: Int = 0) async throws -> HostQuestion {
        func asked() -> [HostQuestion] {
            all.compactMap { if case .question(let question) = $0 { question } else { nil } }
        }
        guard await comesTrue({ asked().count > number }) else { throw NothingThere() }
        return asked()[number]
    }

    /// The view of a call, played by the test.
    func view(of call: HostedCall.ID) async throws -> PlayedView {
        let view = try await first { event -> HostedView? in
            if case .viewOpened(let view) = event, view.call == call { view } else { nil }
        }
        return PlayedView(self, view)
    }

    func close() async {
        await host.close()
        await reader.value
    }
}

/// The frame of a view: what it was told, and what it says.
struct PlayedView: Sendable {
    let fixture: HostFixture
    let view: HostedView
    var id: HostedView.ID { view.id }

    init(_ fixture: HostFixture, _ view: HostedView) {
        self.fixture = fixture
        self.view = view
    }

    /// What the host sent, in order.
    var received: [JSONValue] {
        fixture.all.compactMap { event in
            if case .viewMessage(id, let message) = event { message } else { nil }
        }
    }

    /// The methods of requests and notifications that came.
    var methods: [String] { received.compactMap { $0["method"]?.stringValue } }

    /// The parameters of the first message with this method.
    func params(of method: String) async throws -> JSONValue {
        guard await comesTrue({ methods.contains(method) }),
            let message = received.first(where: { $0["method"]?.stringValue == method })
        else { throw NothingThere() }
        return message["params"] ?? .null
    }

    func say(_ method: String, _ params: JSONValue = [:]) async {
        await fixture.host.receive(
            [["jsonrpc": "2.0", "method": .string(method), "params": params]], from: id)
    }

    /// Asks, and returns the whole answer.
    func ask(_ id: Int, _ method: String, _ params: JSONValue = [:]) async throws -> JSONValue {
        await send(id, method, params)
        return try await answer(to: id)
    }

    func send(_ id: Int, _ method: String, _ params: JSONValue = [:]) async {
        await fixture.host.receive(
            [["jsonrpc": "2.0", "id": JSONValue(id), "method": .string(method), "params": params]],
            from: self.id)
    }

    func answer(to id: Int) async throws -> JSONValue {
        func isAnswer(_ message: JSONValue) -> Bool {
            message["id"]?.intValue == id && message["method"] == nil
        }
        guard await comesTrue({ received.contains(where: isAnswer) }),
            let message = received.first(where: isAnswer)
        else { throw NothingThere() }
        return message
    }

    /// Everything up to `initialized`.
    /// - Returns: the result of `ui/initialize`.
    @discardableResult
    func begin(_ capabilities: JSONValue = [:], id: Int = 1) async throws -> JSONValue {
        await say("ui/notifications/sandbox-proxy-ready")
        _ = try await params(of: "ui/notifications/sandbox-resource-ready")
        let answer = try await ask(
            id, "ui/initialize",
            [
                "protocolVersion": "2026-01-26", "appInfo": ["name": "played", "version": "1"],
                "appCapabilities": capabilities,
            ])
        await say("ui/notifications/initialized")
        return answer["result"] ?? .null
    }
}

/// A server with a user interface, whose tools note what they are called with.
final class UIServer: Sendable {
    static let uri = "ui://test/chart"
    static let html = "<!doctype html><title>chart</title>"

    let server: MCPServer
    let release = Gate()
    let started = Counter()
    let cancelled = Gate()
    private let notes = Notes()

    var called: [String] { notes.all }

    /// What the tools were called with. The tools keep this, and not their server.
    private final class Notes: Sendable {
        private let calls = Mutex<[String]>([])

        var all: [String] { calls.withLock { $0 } }

        func add(_ call: ToolCall, _ tool: String) {
            let text = "\(tool) \(call.arguments.value.serialized())"
            calls.withLock { $0.append(text) }
        }
    }

    /// - Parameter readTTL: how long hosts may keep the document.
    init(
        _ name: String = "charts", readTTL: Duration = .zero,
        html: @escaping @Sendable () -> String = { UIServer.html }
    ) throws {
        var options = ServerOptions()
        options.readTTL = readTTL
        server = MCPServer(name, version: "1", options: options)
        let open: JSONValue = ["type": "object"]
        let ui: JSONObject = ["ui": ["resourceUri": .string(Self.uri)]]
        try server.register(Tool("chart", inputSchema: open, meta: ui)) { [notes] call, _ in
            notes.add(call, "chart")
            return CallToolResult(
                content: [.text("drawn by \(name)")], structuredContent: ["points": [1, 2, 3]],
                meta: ["secret": "for the view"])
        }
        try server.register(Tool("slow", inputSchema: open, meta: ui)) {
            [notes, release, started, cancelled] call, context in
            notes.add(call, "slow")
            started.increment()
            await context.progress(1, total: 4, message: "a quarter")
            return await withTaskCancellationHandler {
                await release.wait() ? .text("at last") : .error("gone")
            } onCancel: {
                cancelled.open()
            }
        }
        try server.register(Tool("plain", inputSchema: open)) { [notes] call, _ in
            notes.add(call, "plain")
            return .text("without a view")
        }
        try server.register(Tool("fails", inputSchema: open, meta: ui)) { _, _ in .error("no chart today") }
        try server.register(
            Tool("tick", inputSchema: open, meta: ["ui": ["visibility": ["app"]]])
        ) { [notes] call, _ in
            notes.add(call, "tick")
            return CallToolResult(
                content: [.text("tick")], structuredContent: call.arguments.value, meta: ["of": "tick"])
        }
        try server.register(
            Tool("think", inputSchema: open, meta: ["ui": ["visibility": ["model"]]])
        ) { [notes] call, _ in
            notes.add(call, "think")
            return .text("thought")
        }
        try server.register(
            Resource(Self.uri, name: "chart", mimeType: "text/html;profile=mcp-app")
        ) { _ in
            [.text(html(), uri: Self.uri, mimeType: "text/html;profile=mcp-app")]
        }
        try server.register(Resource("test:///data.bin", name: "data", mimeType: "application/x-data")) { _ in
            [.blob([1, 2, 3], uri: "test:///data.bin", mimeType: "application/x-data")]
        }
    }
}
