public import MCPCore

/// The protocol between a host and one view, as a value type: messages and time go in, effects come out (MCP
/// Apps 2026-01-26 "Communication Protocol").
///
/// ```swift
/// var machine = AppBridgeMachine(
///     hostInfo: info, capabilities: capabilities, context: context, resource: resource, sandbox: grant)
/// for effect in machine.receive(message, now: .now) { carryOut(effect) }
/// ```
/// The machine enforces the order: nothing but responses before the view is initialized; then partial inputs,
/// one input, and one result or cancellation. It holds back whatever comes too early, ignores whatever comes
/// too late, validates every message of the view, refuses whatever the capabilities do not offer, and manages
/// all ids and timeouts. The caller must carry out the effects in order.
///
/// A sandbox that reports again that it is ready, because the page was reloaded, restarts the handshake; the
/// input and the result are sent again. This grants nothing else.
public struct AppBridgeMachine: Sendable {
    /// The states of a view.
    public enum State: Sendable, Hashable {
        /// No message was received yet.
        case created
        /// The sandbox is ready, but there is no document to send to it.
        case proxyReady
        /// The sandbox has the document.
        case loading
        /// The view has received the response to `ui/initialize`.
        case initializing
        /// The view is active.
        case ready
        /// The view was notified that it will be removed.
        case tearingDown
        /// Nothing is sent or accepted any more.
        case closed
    }

    /// An effect to be carried out; effects are carried out in order.
    public enum Effect: Sendable, Hashable {
        /// Send this to the frame.
        case send(JSONValue)
        /// Do this, and pass the outcome to `answer`.
        case perform(ViewRequest, id: ViewRequestID)
        /// The view cancelled the request, or is gone: stop working on it. An answer is ignored.
        case cancel(ViewRequestID)
        /// Take note of this event.
        case notify(ViewEvent)
        /// The view responded to a request of the host, or never will.
        case answered(HostRequestID, Result<JSONValue, MCPError>)
        /// Call `timerFired` after this time. This replaces the timer with the same id.
        case setTimer(id: Int, after: Duration)
        /// Remove the frame: no more effects follow.
        case close
    }

    /// The outcome of the view's tool call.
    enum Outcome: Sendable {
        case result(JSONObject)
        case cancelled(reason: String?)
    }

    /// The current state of the view.
    public internal(set) var state = State.created
    /// The name and version that the view declared; nil before `ui/initialize`.
    public internal(set) var appInfo: Implementation?
    /// The capabilities that the view declared; nil before `ui/initialize`.
    public internal(set) var appCapabilities: AppCapabilities?

    let hostInfo: Implementation
    let capabilities: HostCapabilities
    let resource: UIResource?
    let sandbox: SandboxGrant?
    let limits: AppBridgeLimits

    /// The current context, and the context that the view knows.
    var context: HostContext
    var toldContext = HostContext()

    var partialInput: JSONValue?
    var input: JSONValue?
    var outcome: Outcome?
    var hasSentInput = false
    var hasSentOutcome = false

    /// The open requests of the view, with the view's own ids.
    var viewRequests: [ViewRequestID: JSONValue] = [:]
    /// The open requests of the view whose progress it follows.
    var followed: [ViewRequestID: FollowedRequest] = [:]
    /// The requests of the host that the view has not answered.
    var hostRequests: Set<HostRequestID> = []
    /// The requests of the host that wait until the view is ready, in order.
    var waitingRequests: [(id: HostRequestID, message: JSONValue)] = []
    var teardownRequest: HostRequestID?
    var lastNumber = 0

    var messages = RateWindow(.seconds(1))
    var restarts = RateWindow(.seconds(60))
    var toolsChangedAt: ContinuousClock.Instant?
    var isToolsChangedPending = false

    /// Creates a machine for one view.
    /// - Parameters:
    ///   - context: the host context; later changes are passed to `contextChanged`.
    ///   - resource: the document for the sandbox; nil when the host loads it itself and there is no sandbox
    ///     page.
    ///   - sandbox: the grant of the view, sent to the sandbox page.
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

    /// Whether the view can receive messages other than responses.
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

    /// Returns an error with the code -32000: the host is unwilling or unable to do it.
    static func refusal(_ text: String) -> MCPError { MCPError(code: -32000, message: text) }
}
