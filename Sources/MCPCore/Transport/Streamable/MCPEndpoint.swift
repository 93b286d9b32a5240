import Synchronization

extension MCPServer {
    /// Creates the server's MCP endpoint for programs that bring their own HTTP stack.
    ///
    /// Create it once and pass every request to it: it makes the same checks as our own listener, which
    /// uses the same code.
    ///
    /// - Parameters:
    ///   - path: the path of the endpoint.
    ///   - servers: further MCP servers, at other paths.
    ///   - handler: serves requests that are not MCP, at other paths.
    ///   - policy: which hosts and origins are allowed; loopback names by default.
    ///   - limits: the limits of a message.
    ///   - authorization: the authorization of callers; nil accepts all that the policy allows.
    public func makeEndpoint(
        path: String = "/mcp", servers: (any MCPServerRouter)? = nil,
        handler: (any HTTPRequestHandler)? = nil, policy: AccessPolicy = .loopback,
        limits: HTTPLimits = HTTPLimits(), authorization: ServerAuthorization? = nil
    ) -> MCPEndpoint {
        let router = EndpointRouter(handler: handler, servers: servers)
        let endpoint = StreamableEndpoint(
            server: self, path: path, router: router, authorization: authorization)
        return MCPEndpoint(endpoint, policy, limits)
    }

    /// Answers one HTTP request with the default policy: loopback hosts only, path `/mcp`.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        await makeEndpoint().respond(to: request)
    }
}

/// An MCP endpoint behind another HTTP server (transports/streamable-http).
public final class MCPEndpoint: Sendable {
    private let endpoint: StreamableEndpoint
    private let context: ConnectionContext

    init(_ endpoint: StreamableEndpoint, _ policy: AccessPolicy, _ limits: HTTPLimits) {
        self.endpoint = endpoint
        var options = HTTPServerOptions()
        options.limits = limits
        context = ConnectionContext(handler: endpoint, policy: policy, options: options)
    }

    /// Answers one request. A streaming body ends with the JSON-RPC response; stop reading it to
    /// cancel the request.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        let response = await answer(request)
        guard request.method == "HEAD" else { return response }
        return HTTPResponse(status: response.status, headers: response.headers)
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let bytes = Self.head(of: request)
        var parser = RequestParser(limits: context.options.limits)
        switch unsafe bytes.withBytes({ unsafe parser.parse($0) }) {
        case .needMore: return HTTPResponse(EarlyResponse(status: 400, text: "The request is not complete"))
        case .failed(let error): return HTTPResponse(EarlyResponse(status: error.status, text: error.reason))
        case .head(let head):
            var memory: ConnectionMemory?
            switch endpoint.check(
                head, in: bytes, context: context, isFromOwnUser: { request.isFromOwnUser }, peer: { nil },
                memory: &memory)
            {
            case .refuse(let response): return HTTPResponse(response)
            case .serve(let other as AsyncRequestHandler):
                let request = HTTPRequest(
                    head, in: bytes, request.body, isFromOwnUser: request.isFromOwnUser)
                return await respond(request, by: other.handler)
            case .serve(let handler):
                do throws(EarlyResponse) {
                    let (endpoint, caller) = try await admit(head, bytes, request, by: handler)
                    return try await serve(head, bytes, request.body, at: endpoint, as: caller)
                } catch {
                    return HTTPResponse(error)
                }
            }
        }
    }

    /// Returns the endpoint and the caller of a request, after its token is verified; the caller is nil
    /// without authorization.
    private func admit(
        _ head: RequestHead, _ bytes: ByteSlice, _ request: HTTPRequest, by handler: RequestHandler
    ) async throws(EarlyResponse) -> (endpoint: StreamableEndpoint, caller: Caller?) {
        switch handler {
        case let authorized as GuardedRequest:
            // Another program's connections have no address here.
            try authorized.endpoint.access?.count(authorized.caller) { nil }
            return (authorized.endpoint, authorized.caller)
        case let unverified as UnverifiedRequest:
            let outcome = await withCheckedContinuation { continuation in
                unverified.access.verifications.verify(unverified.credential) {
                    continuation.resume(returning: $0)
                }
            }
            let (endpoint, caller) = try unverified.admit(
                head, in: bytes, outcome, isFromOwnUser: { request.isFromOwnUser })
            return (endpoint, caller)
        default: return (handler as? StreamableEndpoint ?? endpoint, nil)
        }
    }

    /// Returns the response of another handler; the other HTTP stack reports a deadline and the end of the
    /// client by cancelling.
    private func respond(_ request: HTTPRequest, by handler: any HTTPRequestHandler) async -> HTTPResponse {
        let response = await handler.respond(to: request)
        guard case .upgrade = response.body.content else { return response }
        return HTTPResponse(EarlyResponse(status: 501, text: "A connection cannot be taken over here"))
    }

    private func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, at endpoint: StreamableEndpoint,
        as caller: Caller?
    ) async throws(EarlyResponse) -> HTTPResponse {
        if let shared = endpoint.dispatcher.shared,
            let session = endpoint.namedSession(head, in: bytes, caller),
            let refusal = await endpoint.refusal(by: shared, of: session, isEnd: head.method == .delete)
        {
            throw head.method == .post ? refusal.aboutMessage : refusal
        }
        switch head.method {
        case .delete:
            try endpoint.endSession(head, in: bytes, caller)
            return HTTPResponse(status: 204)
        case .get:
            // Streams that outlive their request need a connection of our own.
            throw .notAllowed("Send messages with POST", allow: "POST, DELETE")
        default: break
        }
        var channel: ServerChannel
        do {
            channel = try endpoint.channel(
                of: head, in: bytes, connection: ConnectionNumber.next(), caller: caller)
        } catch {
            throw error.aboutMessage
        }
        let credential = endpoint.access?.credential(
            of: caller, head.value(.authorization, in: bytes), peer: { nil })
        return await serve(body, &channel, credential, at: endpoint)
    }

    private func serve(
        _ body: ByteSlice, _ channel: inout ServerChannel, _ credential: AccessGuard.Credential?,
        at endpoint: StreamableEndpoint
    ) async -> HTTPResponse {
        let wasOpen = channel.session == nil
        var writer = JSONWriter()
        let sink = StreamingSink(endpoint.dispatcher)
        switch endpoint.dispatcher.receive(body, from: &channel, into: &writer, sink: { sink }) {
        case .answered(let status):
            var headers = HeaderFields()
            if wasOpen, let session = channel.session {
                headers = endpoint.sessionHeader(for: session, channel.caller) ?? headers
            }
            if status == 403, let caller = channel.caller, let access = endpoint.access {
                headers = access.challengeFields(for: caller)
            }
            try? headers.set("Content-Type", to: "application/json")
            return HTTPResponse(
                status: channel.legacyStatus(status), headers: headers, body: .bytes(writer.finish().array))
        case .accepted, .dropped: return HTTPResponse(status: 202)
        case .deferred(let exchange):
            let (caller, dispatcher) = (channel.caller, endpoint.dispatcher)
            let watch = endpoint.access?.streams.watch(caller, credential) { end in
                if let exchange { dispatcher.end(exchange, because: end) }
            }
            return await sink.response(cancelling: wasOpen ? exchange : nil, watch: watch) {
                caller.flatMap { endpoint.access?.challengeFields(for: $0) }
            }
        }
    }

    private static func head(of request: HTTPRequest) -> ByteSlice {
        var head = ByteBuffer()
        head.append(utf8: "\(request.method) \(request.target) HTTP/1.1\r\n")
        for field in request.headers where !isFraming(field.name) {
            head.append(utf8: "\(field.name): \(field.value)\r\n")
        }
        head.append(utf8: "Content-Length: \(request.body.count)\r\n\r\n")
        return head.freeze()
    }

    /// Returns whether the other HTTP stack has already processed this field.
    private static func isFraming(_ name: String) -> Bool {
        ["content-length", "transfer-encoding", "connection", "expect", "keep-alive"].contains(
            name.lowercased())
    }
}

extension HTTPResponse {
    fileprivate init(_ response: EarlyResponse) {
        self.init(status: response.status, headers: response.fields ?? HeaderFields())
        guard let text = response.text, !text.isEmpty else { return }
        try? headers.set(
            "Content-Type", to: response.isJSON ? "application/json" : "text/plain; charset=utf-8")
        body = .bytes(Array((text + "\n").utf8))
    }
}

/// A sink that decides late whether a response is one JSON body or an event stream. Not a `OneShot`, for the
/// same reason as `WaitingSink`.
private final class StreamingSink: ResponseSink {
    private enum First {
        case answer(Answer?)
        case stream
    }

    private struct State {
        var waiting: CheckedContinuation<First, Never>?
        var first: First?
        var isStreaming = false
        var isOver = false
        /// Ends a stream when the caller's token is no longer valid.
        var watch: StreamWatch.Entry?
        /// The request that is cancelled when the stream is not read.
        var exchange: PendingRequest?
    }

    private let state = Mutex(State())
    private let queue: BoundedQueue<[UInt8]>
    private let dispatcher: Dispatcher
    let executor: (any TaskExecutor)? = nil

    init(_ dispatcher: Dispatcher) {
        self.dispatcher = dispatcher
        queue = BoundedQueue(limit: dispatcher.options.limits.maxOutputBytes) { $0.count }
    }

    func notify(_ message: ByteSlice) {
        let waiting = state.withLock { state -> CheckedContinuation<First, Never>? in
            guard !state.isStreaming, !state.isOver else { return nil }
            state.isStreaming = true
            return Self.announce(.stream, &state)
        }
        waiting?.resume(returning: .stream)
        if !queue.add(SSEEncoder.bytes(of: SSEEvent(data: message))) { readerIsGone() }
    }

    func finish(_ answer: Answer?) {
        let (isStreaming, waiting) = state.withLock { state in
            state.isOver = true
            return (
                state.isStreaming, state.isStreaming ? nil : Self.announce(.answer(answer), &state)
            )
        }
        waiting?.resume(returning: .answer(answer))
        guard isStreaming else { return }
        if let answer { _ = queue.add(SSEEncoder.bytes(of: SSEEvent(data: answer.bytes))) }
        queue.finish()
    }

    private static func announce(_ first: First, _ state: inout State) -> CheckedContinuation<First, Never>? {
        if state.waiting == nil { state.first = first }
        return state.waiting.take()
    }

    private func readerIsGone() {
        let exchange = state.withLock { $0.isOver ? nil : $0.exchange }
        dispatcher.cancel(exchange)
    }

    /// - Parameter challenge: returns the fields of a response to a request that lacks scopes.
    func response(
        cancelling exchange: PendingRequest?, watch: StreamWatch.Entry?, challenge: () -> HeaderFields?
    ) async -> HTTPResponse {
        state.withLock { state in
            state.exchange = exchange
            state.watch = watch
        }
        let first = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> First? in
                    if let first = state.first.take() { return first }
                    state.waiting = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            dispatcher.cancel(exchange)
        }
        switch first {
        case .answer(nil): return HTTPResponse(status: 202)
        case .answer(let answer?):
            var headers = (answer.status == 403 ? challenge() : nil) ?? HeaderFields()
            try? headers.set("Content-Type", to: "application/json")
            return HTTPResponse(status: answer.status, headers: headers, body: .bytes(answer.bytes.array))
        case .stream:
            let body = queue.stream { [weak self] in self?.readerIsGone() }
            return HTTPResponse(status: 200, headers: HTTPResponse.eventStreamHeaders, body: .stream(body))
        }
    }
}
