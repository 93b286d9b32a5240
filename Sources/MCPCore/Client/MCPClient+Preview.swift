extension MCPClient {
    /// Returns the message that `request` would send next, exactly as it would be sent.
    ///
    /// - Throws: `ClientError` when it cannot be sent.
    package func preview(
        _ method: String, _ params: JSONObject, options: CallOptions = CallOptions()
    ) throws(ClientError) -> RawJSON {
        guard let speech = connection.speech else {
            throw ClientError(.connectionClosed, "the client is not connected")
        }
        let bytes = try connection.encoder.request(
            connection.pending.lastID + 1, method, params, meta: options.meta,
            wantsProgress: options.onProgress != nil, logLevel: options.logLevel ?? connection.logLevel,
            capabilities: options.capabilities, speech)
        return RawJSON(unchecked: bytes)
    }

    /// Whether sending a request twice does no harm: because of its method, or because the server declares
    /// that of the tool.
    package func mayRepeat(_ method: String, _ params: JSONObject) -> Bool {
        connection.mayRepeat(method, params)
    }
}
