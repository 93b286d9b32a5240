/// What a handler knows about the request it serves.
///
/// It comes from the request alone: nothing of it is kept from earlier requests (JRPC-24).
public struct RequestContext: Sendable {
    let message: Message
    let revision: Revision
    /// What a client of a handshake revision can be asked for.
    let abilities: ClientAbilities
    /// Nil for a tool that answers on the spot.
    let call: DeferredCall?

    init(_ request: Dispatcher.Request, _ call: DeferredCall?) {
        message = request.message
        revision = request.revision
        abilities = request.abilities
        self.call = call
    }

    /// The revision of the protocol that the request speaks.
    public var protocolVersion: ProtocolVersion { revision.version }

    /// The request's `_meta`, as it came.
    public var meta: RawJSON? { message.meta }

    /// Who the client says it is (2026-07-28): for display and logs, never for decisions (META-12).
    public var clientInfo: Implementation? {
        meta?["io.modelcontextprotocol/clientInfo"].flatMap { try? Implementation(json: $0.value) }
    }

    /// What the client says it can do: with this request (2026-07-28), or at the handshake.
    public var clientCapabilities: ClientCapabilities {
        guard revision.isModern else { return abilities.capabilities }
        return meta?["io.modelcontextprotocol/clientCapabilities"]
            .flatMap { try? ClientCapabilities(json: $0.value) } ?? ClientCapabilities()
    }

    /// Whether nobody waits for the answer any more: cancelled, disconnected or past its deadline.
    public var isCancelled: Bool { Task.isCancelled || call?.isOver == true }

    /// Closes the client's connection while the call goes on; the client comes back for the answer after this
    /// time (2025-11-25 over HTTP, "SSE polling"). Without effect elsewhere.
    public func releaseStream(retryAfter: Duration = .seconds(1)) {
        call?.exchange.release(retryAfter: retryAfter)
    }

    /// Reports how far the call has come, when the client asked for it (basic/patterns/progress).
    ///
    /// A value that is not greater than the last one is dropped, and so is a report after the answer
    /// (PROG-03).
    public func progress(_ progress: Double, total: Double? = nil, message: String? = nil) async {
        report(Progress(progress, total: total, message: message))
    }

    /// Whether the client asked for reports.
    var wantsProgress: Bool { call?.exchange.progressToken != nil }

    /// The same from code that cannot wait.
    func report(_ progress: Progress) {
        guard let exchange = call?.exchange, let token = exchange.progressToken,
            exchange.accepts(progress: progress.progress)
        else { return }
        exchange.notify(Notifications.progress(token: token, progress, for: revision))
    }
}
