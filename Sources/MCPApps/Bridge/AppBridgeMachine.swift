public import MCPCore

/// The protocol between a host and one view, as a value: messages and time in, effects out (MCP Apps
/// 2026-01-26 "Communication Protocol").
///
/// ```swift
/// var machine = AppBridgeMachine(
///     hostInfo: info, capabilities: capabilities, context: context, resource: resource, sandbox: grant)
/// for effect in machine.receive(message, now: .now) { carryOut(effect) }
/// ```
/// The machine keeps the order: nothing but answers before the view is initialized; then partial inputs, one
/// input, and one result or cancellation. It holds back what comes too early, passes over what comes too
/// late, checks the form of everything the view says, refuses what the capabilities do not offer, and knows
/// all ids and time-outs. Whoever carries out the effects does it in order.
///
/// A sandbox that says again that it is ready, since the page was loaded again, restarts the handshake; input
/// and result are told once more. Nothing else is granted by it.
public struct AppBridgeMachine: Sendable {
    /// How far the view has come.
    public enum State: Sendable, Hashable {
        /// Nothing was heard yet.
        case created
        /// The sandbox is there, and there is no document to give to it.
        case proxyReady
        /// The sandbox has the document.
        case loading
        /// The view has the answer to `ui/initialize`.
        case initializing
        /// The view is at work.
        case ready
        /// The view was told that it will be removed.
        case tearingDown
        /// Nothing is sent or taken any more.
        case closed
    }

    /// What is to be done, in this order.
    public enum Effect: Sendable, Hashable {
        /// Send this to the frame.
        case send(JSONValue)
        /// Do this, and give the outcome to `answer`.
        case perform(ViewRequest, id: ViewRequestID)
        /// The view gave the request up, or is gone: stop doing it. An answer is passed over.
        case cancel(ViewRequestID)
        /// Know this.
        case notify(ViewEvent)
        /// The view answered a request of the host, or never will.
        case answered(HostRequestID, Result<JSONValue, MCPError>)
        /// Call `timerFired` after this time. It replaces the timer of the same id.
        case setTimer(id: Int, after: Duration)
        /// Remove the frame: nothing will come any more.
        case close
    }

    /// How the call of the view ended.
    enum Outcome: Sendable {
        case result(CallToolResult)
        case cancelled(reason: String?)
    }

    /// How far the view has come.
    public internal(set) var state = State.created
    /// Who the view says it is; nil before `ui/initialize`.
    public internal(set) var appInfo: Implementation?
    /// What the view declared; nil before `ui/initialize`.
    public internal(set) var appCapabilities: AppCapabilities?

    let hostInfo: Implementation
    let capabilities: HostCapabilities
    let resource: UIResource?
    let sandbox: SandboxGrant?
    let limits: AppBridgeLimits

    /// The context as it is, and as the view knows it.
    var context: HostContext
    var toldContext = HostContext()

    var partialInput: JSONValue?
    var input: JSONValue?
    var outcome: Outcome?
    var hasSentInput = false
    var hasSentOutcome = false

    /// Open requests of the view, with the view's own ids.
    var viewRequests: [ViewRequestID: JSONValue] = [:]
    /// Requests of the host that the view has not answered.
    var hostRequests: Set<HostRequestID> = []
    /// Those that wait until the view is ready, in order.
    var waitingRequests: [(id: HostRequestID, message: JSONValue)] = []
    var teardownRequest: HostRequestID?
    var lastNumber = 0

    var messages = RateWindow(.seconds(1))
    var restarts = RateWindow(.seconds(60))
    var toolsChangedAt: ContinuousClock.Instant?
    var isToolsChangedPending = false

    /// A machine for one view.
    /// - Parameters:
    ///   - context: the surroundings; later ones are told by `contextChanged`.
    ///   - resource: the document for the sandbox; nil when the host loads it by itself and there is no
    ///     sandbox page.
    ///   - sandbox: what the sandbox page is told that the view may do.
    public init(
        hostInfo: Implementation, capabilities: HostCapabilities, context: HostContext, resource: UIResource?,
        sandbox: SandboxGrant?, limits: AppBridgeLimits = AppBridgeLimits()
    ) {
        self.hostInfo = hostInfo
        self.capabilities = capabilities
        self.context = context
        self.resource = resource
        self.sandbox = sandbox
        self.limits = limits
    }

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Whether the view can be told something that is no answer.
    var isReady: Bool { state == .ready }

    // MARK: Messages on the wire

    static func request(_ id: HostRequestID, _ method: String, _ params: JSONObject) -> JSONValue {
        ["jsonrpc": "2.0", "id": JSONValue(id.number), "method": .string(method), "params": .object(params)]
    }

    static func notification(_ method: String, _ params: JSONObject = [:]) -> Effect {
        .send(["jsonrpc": "2.0", "method": .string(method), "params": .object(params)])
    }

    static func result(_ id: JSONValue, _ result: JSONValue) -> Effect {
        .send(["jsonrpc": "2.0", "id": id, "result": result])
    }

    static func failure(_ id: JSONValue, _ error: MCPError) -> Effect {
        var object: JSONObject = ["code": JSONValue(error.code), "message": .string(error.message)]
        object["data"] = error.data
        return .send(["jsonrpc": "2.0", "id": id, "error": .object(object)])
    }

    /// -32000: the host does not want to, or cannot, do it.
    static func refusal(_ text: String) -> MCPError { MCPError(code: -32000, message: text) }
}
