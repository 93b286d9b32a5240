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
        case events(AsyncStream<SSEEvent>)
    }

    /// The most events of a response that wait to be read; the response ends with a further one.
    package static let maxEvents = 10_000

    private let endpoint: HTTPEndpoint
    private let tls: any TLSProvider

    /// Creates a relay to a URL.
    /// - Throws: `ClientError` of the kind `.invalidRequest` for one that cannot be requested.
    package init(url: String, tls: any TLSProvider) throws(ClientError) {
        endpoint = try HTTPEndpoint(url: url)
        self.tls = tls
    }

    /// Creates a relay to a unix socket.
    /// - Throws: `ClientError` of the kind `.invalidRequest` for a path that no socket has.
    package init(unixPath: String, target: String) throws(ClientError) {
        endpoint = try HTTPEndpoint(unixPath: unixPath, target: target)
        tls = OpenSSLProvider.system
    }

    /// Sends a request and returns when its response has begun.
    ///
    /// - Parameter fields: the header fields, without those that frame the message, and without Host.
    /// - Throws: `ClientError` when there is no response, `.cancelled` when the task was cancelled.
    package func send(
        method: String, fields: HeaderFields, body: [UInt8]?
    ) async throws(ClientError) -> Response {
        let pool = try HTTPClientPool(
            endpoint, options: ClientOptions(), loop: nil, tls: tls, addresses: AddressLookup())
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
                method: verb, target: endpoint.target, host: endpoint.hostField, fields: fields,
                contentLength: body?.count, to: &buffer)
        } catch {
            throw ClientError(.invalidRequest, "the header field \(error.name) cannot be sent")
        }
        if let body { buffer.append(body) }
        var request = HTTPClientRequest(
            method: "the request", bytes: buffer.freeze(), session: nil, connectTimeout: .seconds(10))
        let (events, continuation) = AsyncStream.makeStream(
            of: SSEEvent.self, bufferingPolicy: .bufferingOldest(Self.maxEvents))
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
                        Response(status: response.status, fields: response.fields, body: .events(events))))
            },
            receive: { event in
                if case .dropped = continuation.yield(event) { continuation.finish() }
            })
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
