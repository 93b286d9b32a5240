import MCPApps
import MCPCore
import MCPHarness

typealias Effect = AppBridgeMachine.Effect

/// A machine, with the time and the words of a view.
struct ViewBench {
    var machine: AppBridgeMachine
    var now = ContinuousClock.now
    private var lastID = 0

    static let resource: UIResource = {
        guard let resource = try? UIResource(uri: "ui://x/y", html: "<!doctype html><p>view</p>") else {
            preconditionFailure("a literal")
        }
        return resource
    }()

    static var context: HostContext {
        var context = HostContext()
        context.theme = "light"
        context.displayMode = .inline
        context.availableDisplayModes = [.inline, .fullscreen]
        context.containerDimensions = HostContext.Dimensions(width: .fixed(600), height: .flexible(400))
        return context
    }

    static var everything: HostCapabilities {
        var capabilities = HostCapabilities()
        capabilities.serverTools = true
        capabilities.serverResources = true
        capabilities.sampling = true
        return capabilities
    }

    init(
        capabilities: HostCapabilities = everything, context: HostContext = context,
        resource: UIResource? = resource, sandbox: SandboxGrant? = SandboxGrant(permissions: [.camera]),
        limits: AppBridgeLimits = AppBridgeLimits()
    ) {
        machine = AppBridgeMachine(
            hostInfo: Implementation(name: "bench", version: "1"), capabilities: capabilities,
            context: context, resource: resource, sandbox: sandbox, limits: limits)
    }

    /// One that is at work.
    static func ready(
        capabilities: HostCapabilities = everything, context: HostContext = context,
        limits: AppBridgeLimits = AppBridgeLimits(), app: JSONObject = [:]
    ) -> ViewBench {
        var bench = ViewBench(capabilities: capabilities, context: context, limits: limits)
        bench.load()
        bench.initialize(app)
        bench.notify("ui/notifications/initialized")
        return bench
    }

    mutating func hear(_ message: JSONValue) -> [Effect] { machine.receive(message, now: now) }

    @discardableResult
    mutating func notify(_ method: String, _ params: JSONValue = [:]) -> [Effect] {
        hear(["jsonrpc": "2.0", "method": .string(method), "params": params])
    }

    /// A request, with ids from 1 on.
    @discardableResult
    mutating func request(_ method: String, _ params: JSONValue = [:], id: JSONValue? = nil) -> [Effect] {
        lastID += 1
        let id = id ?? JSONValue(lastID)
        return hear(["jsonrpc": "2.0", "id": id, "method": .string(method), "params": params])
    }

    @discardableResult
    mutating func load() -> [Effect] { notify("ui/notifications/sandbox-proxy-ready") }

    @discardableResult
    mutating func initialize(_ app: JSONObject = [:]) -> [Effect] {
        request(
            "ui/initialize",
            [
                "protocolVersion": "2026-01-26", "appInfo": ["name": "view", "version": "2"],
                "appCapabilities": .object(app),
            ])
    }

    /// What the view asked last, when it is to be done.
    static func performed(_ effects: [Effect]) -> (request: ViewRequest, id: ViewRequestID)? {
        for case .perform(let request, let id) in effects { return (request, id) }
        return nil
    }
}

extension [Effect] {
    /// What is sent to the view.
    var sent: [JSONValue] {
        compactMap { if case .send(let message) = $0 { message } else { nil } }
    }
    /// The methods of what is sent; `result` and `error` for answers.
    var methods: [String] {
        sent.map { $0["method"]?.stringValue ?? ($0["error"] == nil ? "result" : "error") }
    }
    /// The code of the error that is sent, when there is one message and it is an error.
    var errorCode: Int? { sent.count == 1 ? sent[0]["error"]?["code"]?.intValue : nil }
    var events: [ViewEvent] {
        compactMap { if case .notify(let event) = $0 { event } else { nil } }
    }
    var reasons: [String] {
        events.compactMap { if case .dropped(let reason) = $0 { reason } else { nil } }
    }
}
