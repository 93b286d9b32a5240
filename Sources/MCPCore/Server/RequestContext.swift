/// The information that a handler has about the request it serves.
///
/// It comes from the request alone: nothing is kept from earlier requests (JRPC-24).
public struct RequestContext: Sendable {
    let message: Message
    let revision: Revision
    /// The requests that a client of a handshake revision can receive.
    let abilities: ClientAbilities
    /// Nil for a synchronous tool.
    let call: DeferredCall?
    /// Nil without authorization.
    let caller: Caller?
    /// The trace context of the HTTP head; nil without middleware.
    let header: TraceContext?

    init(_ request: __shared Dispatcher.Request, _ call: DeferredCall?, header: TraceContext? = nil) {
        self.header = header ?? request.trace?.header
        message = request.message
        revision = request.revision
        abilities = request.abilities
        caller = request.caller
        self.call = call
    }

    /// The protocol revision that the request uses.
    public var protocolVersion: ProtocolVersion { revision.version }

    /// The request's `_meta`, as received.
    public var meta: RawJSON? { message.meta }

    /// The identity that the client declares (2026-07-28): for display and logs, never for
    /// decisions (META-12).
    public var clientInfo: Implementation? {
        meta?["io.modelcontextprotocol/clientInfo"].flatMap { try? Implementation(json: $0.value) }
    }

    /// The capabilities that the client declares: with this request (2026-07-28), or at the handshake.
    public var clientCapabilities: ClientCapabilities {
        guard revision.isModern else { return abilities.capabilities }
        return meta?["io.modelcontextprotocol/clientCapabilities"]
            .flatMap { try? ClientCapabilities(json: $0.value) } ?? ClientCapabilities()
    }

    /// Whether no caller waits for the response any more: the request was cancelled, the client disconnected,
    /// or the deadline has passed.
    public var isCancelled: Bool { Task.isCancelled || call?.isOver == true }

    /// Closes the client's connection while the call continues; the client reconnects for the response after
    /// this time (2025-11-25 over HTTP, "SSE polling"). Has no effect elsewhere.
    public func releaseStream(retryAfter: Duration = .seconds(1)) {
        call?.exchange.release(retryAfter: retryAfter)
    }

    /// Reports the progress of the call, if the client requested it (basic/patterns/progress).
    ///
    /// A value that is not greater than the previous one is dropped, as is a report after the
    /// response (PROG-03).
    public func progress(_ progress: Double, total: Double? = nil, message: String? = nil) async {
        report(ProgressReport(progress, total: total, message: message))
    }

    /// Whether the client requested progress reports.
    package var wantsProgress: Bool { call?.exchange.progressToken != nil }

    /// Reports progress from code that cannot wait.
    package func report(_ progress: ProgressReport) {
        guard let exchange = call?.exchange, let token = exchange.progressToken,
            exchange.accepts(progress: progress.progress)
        else { return }
        exchange.notify(Notifications.progress(token: token, progress, for: revision))
    }
}
