/// One POST to a server that need not speak MCP, of whose answer only the status counts.
enum HTTPPost {
    /// Returns when the server has taken it.
    ///
    /// - Parameter options: header fields, limits and time-outs: `timeout` is that of the whole request.
    /// - Throws: `ClientError`: `.httpStatus` or `.authentication` for a status outside of 200 to 299, others
    ///   when there is no answer.
    static func send(_ body: ByteSlice, to endpoint: HTTPEndpoint, options: ClientOptions) async throws {
        let tls = OpenSSLProvider.system
        if endpoint.isSecure { do { try tls.prepare() } catch { throw ClientError(error, endpoint.name) } }
        let fields = try HTTPClientFields(options)
        var request = try HTTPEventPost.request(body, endpoint, fields, options)
        request.limit = options.timeout.map {
            ($0, ClientError(.timeout, "\(endpoint.name) did not answer in time"))
        }
        let loop: EventLoop
        do {
            loop = try ClientLoops.next()
        } catch {
            throw ClientError(.cannotConnect, "cannot make an event loop: \(error)")
        }
        SignalWatch.ignoreBrokenPipes()
        let pool = HTTPClientPool(
            endpoint, loop: loop, options: options, fields: fields, session: HTTPClientSession(), tls: tls)
        let post = LoopBound(pool, loop: loop)
        let failure = await withCheckedContinuation { continuation in
            request.completion = { continuation.resume(returning: $0) }
            let request = request
            loop.execute { post.value.send(request) }
        }
        loop.execute { post.value.close() }
        if let failure { throw failure }
    }
}
