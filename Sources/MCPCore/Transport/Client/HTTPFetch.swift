/// One small request, on a connection of its own, whose whole response goes to the caller: metadata and
/// tokens of authorization, the address for operators. It is neither repeated nor redirected.
package struct HTTPFetch: Sendable {
    /// A response, whatever its status.
    package struct Response: Sendable {
        /// The status.
        package let status: Int
        /// The header fields.
        package let fields: HeaderFields
        /// The body.
        package let body: [UInt8]

        init(_ head: ResponseHead, _ bytes: ByteSlice, _ body: ByteSlice) {
            var fields = HeaderFields()
            head.forEachField(in: bytes) { name, value in
                // The parser has checked both; bytes that are not UTF-8 make a field that is not used.
                try? fields.append(String(name), String(value))
            }
            status = head.status
            self.fields = fields
            self.body = body.array
        }
    }

    let endpoint: HTTPEndpoint
    /// The time until the connection is open.
    let connectTimeout: Duration
    /// The time for the whole request.
    let timeout: Duration
    /// The greatest size of the body of a response.
    let maxBodyBytes: Int
    /// Whether a stream of events, which may never end, is a response without a body.
    var leavesEvents = false
    var tls: any TLSProvider = OpenSSLProvider.system
    var loop: EventLoop?
    var addresses = AddressLookup()

    /// Creates a request to a unix socket.
    /// - Throws: `ClientError` of the kind `.invalidRequest` for a path that no socket has.
    package init(
        unixPath: String, target: String, timeout: Duration, maxBodyBytes: Int
    ) throws(ClientError) {
        let endpoint = try HTTPEndpoint(unixPath: unixPath, target: target)
        self.init(endpoint, connectTimeout: timeout, timeout: timeout, maxBodyBytes: maxBodyBytes)
    }

    /// Creates a request to a URL with `http` or `https`.
    /// - Throws: `ClientError` of the kind `.invalidRequest` if the text is not such a URL.
    package init(url: String, timeout: Duration, maxBodyBytes: Int) throws(ClientError) {
        let endpoint = try HTTPEndpoint(url: url)
        self.init(endpoint, connectTimeout: timeout, timeout: timeout, maxBodyBytes: maxBodyBytes)
    }

    init(_ endpoint: HTTPEndpoint, connectTimeout: Duration, timeout: Duration, maxBodyBytes: Int) {
        self.endpoint = endpoint
        self.connectTimeout = connectTimeout
        self.timeout = timeout
        self.maxBodyBytes = maxBodyBytes
    }

    /// Sends a GET, or a POST if there is a body.
    ///
    /// - Throws: `ClientError`: `.timeout` after `timeout`, `.protocolViolation` for a response that cannot
    ///   be read or is too large, `.cancelled`, or another kind when there is no response.
    package func send(
        _ fields: HeaderFields = HeaderFields(), body: [UInt8]? = nil
    ) async throws(ClientError) -> Response {
        var options = ClientOptions()
        options.maxMessageBytes = maxBodyBytes
        let pool = try HTTPClientPool(
            endpoint, options: options, loop: loop, tls: tls, addresses: addresses)
        let outcome = OneShot<Result<Response, ClientError>>()
        var request = HTTPClientRequest(
            method: "the request", bytes: try bytes(fields, body), session: nil,
            connectTimeout: connectTimeout)
        request.limit = (
            timeout, ClientError(.timeout, "\(endpoint.name) did not answer within \(timeout.inWords)")
        )
        request.response = { outcome.finish(.success($0)) }
        if leavesEvents {
            request.stream = HTTPRelayStream(begin: { outcome.finish(.success($0)) }, receive: { _ in })
        }
        request.completion = { if let error = $0 { outcome.finish(.failure(error)) } }
        let outgoing = request
        let (bound, loop) = (LoopBound(pool, loop: pool.loop), pool.loop)
        loop.execute { bound.value.send(outgoing) }
        let cancelled = ClientError(.cancelled, "the request to \(endpoint.name) was cancelled")
        let result = await outcome.value(ifCancelled: .failure(cancelled))
        // The connection serves one request; a task that was cancelled has left it open.
        loop.execute { bound.value.close() }
        return try result.get()
    }

    private func bytes(_ given: HeaderFields, _ body: [UInt8]?) throws(ClientError) -> ByteSlice {
        var buffer = ByteBuffer()
        var fields = given
        fields.append(sanitizing: "Connection", "close")
        fields.append(sanitizing: "User-Agent", "swift-mcp-core")
        do throws(HeaderFields.InvalidField) {
            try RequestWriter.writeHead(
                method: body == nil ? "GET" : "POST", target: endpoint.target, host: endpoint.hostField,
                fields: fields, contentLength: body?.count, to: &buffer)
        } catch {
            throw ClientError(
                .invalidRequest, "the request to \(endpoint.name) cannot be sent: \(error.name)")
        }
        if let body { buffer.append(body) }
        return buffer.freeze()
    }
}
