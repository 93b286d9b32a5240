/// A single POST to a server that need not support MCP; only the status of the response matters.
enum HTTPPost {
    /// Sends the body, and returns when the server has accepted it.
    ///
    /// - Parameter options: header fields, limits and time-outs; `timeout` applies to the whole request.
    /// - Throws: `ClientError`: `.httpStatus` or `.authentication` for a status outside of 200 to 299, others
    ///   when there is no response.
    static func send(_ body: ByteSlice, to endpoint: HTTPEndpoint, options: ClientOptions) async throws {
        let pool = try HTTPClientPool(endpoint, options: options)
        let loop = pool.loop
        var request = try HTTPEventPost.request(body, by: pool)
        request.limit = options.timeout.map {
            ($0, ClientError(.timeout, "\(endpoint.name) did not answer in time"))
        }
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
