/// A transport that communicates with a server over HTTP: one POST per message, whose response is JSON or an
/// event stream (transports/streamable-http).
final class HTTPClientTransport: ClientTransport {
    /// The time that the client waits for the response to DELETE when it closes.
    private static let deleteTimeout = Duration.seconds(1)

    private let endpoint: HTTPEndpoint
    private let options: ClientOptions
    private let fields: HTTPClientFields
    /// The beginning of the heads of messages to the endpoint.
    private let start: ByteSlice
    private let loop: EventLoop
    private let pool: LoopBound<HTTPClientPool>
    private let session = HTTPClientSession()
    /// The source of credentials; nil also for a place to which they must not be sent.
    private let authorizer: (any RequestAuthorizer)?

    init(
        _ endpoint: HTTPEndpoint, options: ClientOptions, loop: EventLoop? = nil,
        tls: any TLSProvider = OpenSSLProvider.system, carrier: (any HTTPCarrier)? = nil
    ) throws(ClientError) {
        self.endpoint = endpoint
        self.options = options
        let pool = try HTTPClientPool(
            endpoint, options: options, session: session, loop: loop, tls: tls, carrier: carrier)
        fields = pool.fields
        do {
            start = try HTTPClientFields.messageStart(target: endpoint.target, host: endpoint.hostField)
        } catch {
            throw ClientError(.invalidRequest, "\(endpoint.name) cannot be used: \(error.description)")
        }
        authorizer = pool.authorizer
        self.loop = pool.loop
        self.pool = LoopBound(pool, loop: pool.loop)
    }

    var isHTTP: Bool { true }

    var address: String? { endpoint.name }

    var executor: (any TaskExecutor)? { loop }

    var serverKey: ServerKey? {
        ServerKey(
            place: "\(endpoint.scheme)://\(endpoint.name)\(endpoint.target)", principal: fields.principal)
    }

    func identify() async {
        guard let authorizer else { return }
        let request = AuthorizedRequest(httpMethod: "POST", url: endpoint.url(), method: "server/discover")
        _ = try? await authorizer.authorization(for: request)
    }

    func adoptsOtherIdentity() -> Bool {
        guard let authorizer else { return false }
        return session.adopts(authorizer.identity)
    }

    func start(_ inbox: any ClientInbox) {
        let pool = pool
        loop.execute { pool.value.inbox = inbox }
    }

    func send(_ message: OutboundMessage, id: Int64) {
        let pool = pool
        do {
            var request = try request(message, id: id)
            if request.id == nil {
                // The response comes on the event stream; the acceptance of the message is not the response.
                request.completion = { error in if let error { pool.value.inbox?.fail(id, error) } }
            }
            let outgoing = request
            // A caller on the loop needs no change of threads.
            if loop.mayRunNow {
                pool.value.send(outgoing)
            } else {
                loop.execute { pool.value.send(outgoing) }
            }
        } catch {
            loop.execute { pool.value.inbox?.fail(id, error) }
        }
    }

    func post(_ message: OutboundMessage) async throws(ClientError) {
        var request = try request(message, id: nil)
        let (pool, loop) = (pool, loop)
        // No other code waits for the response.
        let subject = message.method.isEmpty ? "a response" : message.method
        request.limit = options.timeout.map {
            ($0, ClientError(.timeout, "\(endpoint.name) did not accept \(subject)"))
        }
        let error = await withCheckedContinuation {
            (continuation: CheckedContinuation<ClientError?, Never>) in
            request.completion = { continuation.resume(returning: $0) }
            let request = request
            loop.execute { pool.value.send(request) }
        }
        if let error { throw error }
    }

    func abandon(_ id: Int64, notice: OutboundMessage?) {
        let pool = pool
        // A notice whose fields cannot be written is not worth an error: the exchange is abandoned anyway.
        if let notice, let request = try? request(notice, id: nil) {
            let hasAuthorizer = authorizer != nil
            loop.execute {
                // A server that does not have the request is not told about its end.
                if hasAuthorizer, pool.value.awaitsCredentials(id) { return }
                pool.value.send(request)
            }
        }
        loop.execute { pool.value.abandon(id) }
    }

    private func request(_ message: OutboundMessage, id: Int64?) throws(ClientError) -> HTTPClientRequest {
        guard let (announced, session) = session.route(of: message) else {
            throw ClientError(.sessionExpired, "\(endpoint.name) has ended its event stream")
        }
        var buffer = ByteBuffer(capacity: 512 + message.bytes.count)
        do {
            let start =
                if let announced {
                    try HTTPClientFields.messageStart(target: announced, host: endpoint.hostField)
                } else {
                    start
                }
            try fields.writeHead(of: message, session: session, behind: start, to: &buffer)
        } catch {
            throw ClientError(.invalidRequest, "\(message.subject) cannot be sent: \(error.description)")
        }
        trace(buffer.slice(0 ..< buffer.count))
        buffer.append(message.bytes)
        return HTTPClientRequest(
            id: announced == nil ? id : nil, method: message.method, callID: id, name: message.mirroredName,
            bytes: buffer.freeze(), session: session,
            connectTimeout: message.connectTimeout,
            isResumable: message.revision.map { !$0.isModern } ?? true, isRepeatable: message.isRepeatable,
            mustBeTaken: id != nil || message.mustBeTaken)
    }

    func fallBack(within timeout: Duration) async throws(ClientError) -> Bool {
        try await openChannel(within: timeout, isRequired: false)
    }

    /// Opens the event stream of HTTP+SSE, on which all messages of the server arrive.
    ///
    /// - Parameter isRequired: whether a server without such a stream is a failure.
    /// - Returns: whether it is open.
    @discardableResult
    func openChannel(within timeout: Duration, isRequired: Bool) async throws(ClientError) -> Bool {
        let pool = pool
        let loop = loop
        let outcome = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Bool, ClientError>, Never>) in
            loop.execute {
                pool.value.openChannel(within: timeout, isRequired: isRequired) {
                    continuation.resume(returning: $0)
                }
            }
        }
        return try outcome.get()
    }

    func openingFailure(after limit: Duration) -> ClientError? {
        session.opening.map { ClientError($0.timedOut(limit), endpoint.name) }
    }

    func openServerStream() {
        let pool = pool
        loop.execute { pool.value.openServerStream() }
    }

    func whenServerStreamIsSettled(_ then: @escaping @Sendable () -> Void) {
        let pool = pool
        loop.execute { pool.value.whenServerStreamIsSettled(then) }
    }

    func reportsLoss(within limit: Duration) -> Bool {
        let pool = pool
        loop.execute { pool.value.reportLoss(within: limit) }
        return true
    }

    func loseSession() { session.lose() }

    private func trace(_ head: ByteSlice) {
        // The fields of an authorizer are still missing; it traces the whole head.
        if authorizer == nil, let trace = options.trace { trace(.httpRequest(head: fields.masked(head))) }
    }

    // MARK: Ending

    /// Ends the session, if there is one, and closes the connections (LEG-26).
    func close() async {
        if let (id, revision) = session.end() {
            // The loop enforces the time limit; the limit here is for a loop that does not get around to it.
            try? await TimeLimit.run(
                Self.deleteTimeout * 2, late: { Self.lateEnd }, { [self] in await delete(id, revision) })
        }
        shutDown()
    }

    private static let lateEnd = ClientError(.timeout, "the session was not ended in time")

    private func delete(_ session: String, _ revision: Revision?) async {
        var buffer = ByteBuffer()
        guard let fields = try? fields.deletion(session, revision),
            (try? RequestWriter.writeHead(
                method: "DELETE", target: endpoint.target, host: endpoint.hostField, fields: fields,
                contentLength: nil, to: &buffer)) != nil
        else { return }
        let bytes = buffer.freeze()
        trace(bytes)
        let pool = pool
        let loop = loop
        _ = await withCheckedContinuation { (continuation: CheckedContinuation<ClientError?, Never>) in
            let request = HTTPClientRequest(
                method: "DELETE", bytes: bytes, session: nil, connectTimeout: Self.deleteTimeout,
                isRepeatable: true, limit: (Self.deleteTimeout, Self.lateEnd),
                completion: { continuation.resume(returning: $0) })
            // Whatever the server responds, and even if it does not, the client is done with it.
            loop.execute { pool.value.send(request) }
        }
    }

    func shutDown() {
        let pool = pool
        loop.execute { pool.value.close() }
    }
}
