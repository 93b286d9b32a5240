/// One HTTP request that is passed on to a server, whose response is passed back as it arrives: as a whole,
/// or event by event. It is neither repeated nor redirected.
package struct HTTPRelay: Sendable {
    /// The response of the server.
    package struct Response: Sendable {
        package let status: Int
        package let fields: HeaderFields
        package let body: Body
    }

    package enum Body: Sendable {
        case whole([UInt8])
        /// The events as they arrive; `insert` adds one that the server has not sent.
        case events(AsyncStream<SSEEvent>, insert: @Sendable (SSEEvent) -> Void)
    }

    /// The most events of a response that wait to be read; the response ends with a further one.
    package static let maxEvents = 10_000

    private let endpoint: HTTPEndpoint
    private let tls: any TLSProvider
    private let authorizer: (any RequestAuthorizer)?

    /// Creates a relay to a URL.
    ///
    /// - Parameter authorizer: the credentials of requests that have none of their own.
    /// - Throws: `ClientError` of the kind `.invalidRequest` for one that cannot be requested.
    package init(
        url: String, tls: any TLSProvider, authorizer: (any RequestAuthorizer)? = nil
    ) throws(ClientError) {
        endpoint = try HTTPEndpoint(url: url)
        self.tls = tls
        self.authorizer = authorizer
    }

    /// Creates a relay to a unix socket.
    /// - Throws: `ClientError` of the kind `.invalidRequest` for a path that no socket has.
    package init(unixPath: String, target: String) throws(ClientError) {
        endpoint = try HTTPEndpoint(unixPath: unixPath, target: target)
        tls = OpenSSLProvider.system
        authorizer = nil
    }

    /// Returns the path and the query of an address that the server has announced.
    ///
    /// - Throws: `ClientError` of the kind `.protocolViolation` when it is at another origin.
    package func target(of reference: String) throws(ClientError) -> String {
        try endpoint.target(of: reference)
    }

    /// Sends a request and returns when its response has begun.
    ///
    /// - Parameters:
    ///   - target: the path and the query, if they are not those of the endpoint.
    ///   - fields: the header fields, without those that frame the message, and without Host.
    /// - Throws: `ClientError` when there is no response, `.cancelled` when the task was cancelled.
    package func send(
        method: String, target: String? = nil, fields: HeaderFields, body: [UInt8]?
    ) async throws(ClientError) -> Response {
        var options = ClientOptions()
        if fields["Authorization"] == nil { options.authorizer = authorizer }
        let pool = try HTTPClientPool(
            endpoint, options: options, loop: nil, tls: tls, addresses: AddressLookup())
        let (bound, loop) = (LoopBound(pool, loop: pool.loop), pool.loop)
        let outcome = OneShot<Result<Response, ClientError>>()
        let verb: StaticString
        switch method {
        case "GET": verb = "GET"
        case "POST": verb = "POST"
        case "DELETE": verb = "DELETE"
        default: throw ClientError(.invalidRequest, "\(method) is not passed on")
        }
        var buffer = ByteBuffer()
        do throws(HeaderFields.InvalidField) {
            try RequestWriter.writeHead(
                method: verb, target: target ?? endpoint.target, host: endpoint.hostField, fields: fields,
                contentLength: body?.count, to: &buffer)
        } catch {
            throw ClientError(.invalidRequest, "the header field \(error.name) cannot be sent")
        }
        if let body { buffer.append(body) }
        var request = HTTPClientRequest(
            method: "the request", bytes: buffer.freeze(), session: nil, connectTimeout: .seconds(10))
        let (events, continuation) = AsyncStream.makeStream(
            of: SSEEvent.self, bufferingPolicy: .bufferingOldest(Self.maxEvents))
        let take = { @Sendable (event: SSEEvent) in
            if case .dropped = continuation.yield(event) { continuation.finish() }
        }
        // The reader has gone, or all has been read.
        continuation.onTermination = { _ in loop.execute { bound.value.close() } }
        request.response = { response in
            outcome.finish(
                .success(
                    Response(status: response.status, fields: response.fields, body: .whole(response.body))))
        }
        request.stream = HTTPRelayStream(
            begin: { response in
                outcome.finish(
                    .success(
                        Response(
                            status: response.status, fields: response.fields,
                            body: .events(events, insert: take))))
            }, receive: take)
        request.completion = { error in
            continuation.finish()
            if let error { outcome.finish(.failure(error)) }
        }
        let outgoing = request
        loop.execute { bound.value.send(outgoing) }
        let cancelled = ClientError(.cancelled, "the request to \(endpoint.name) was cancelled")
        let result = await outcome.value(ifCancelled: .failure(cancelled))
        if case .success(let response) = result, case .events = response.body { return response }
        continuation.finish()
        return try result.get()
    }
}

/// What receives the event stream that answers a request.
struct HTTPRelayStream: Sendable {
    let begin: @Sendable (HTTPFetch.Response) -> Void
    let receive: @Sendable (SSEEvent) -> Void
}
