/// A client that registers tools at the endpoint `POST /register-tools` of a server.
public struct ClientToolRegistration: Sendable {
    private let base: String
    private let token: String?

    /// - Parameters:
    ///   - url: the server's address, for example `http://127.0.0.1:3000`.
    ///   - token: the token that the server requires as `Authorization: Bearer`; nil for none.
    public init(url: String, token: String? = nil) {
        base = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.token = token
    }

    /// Registers tools in a channel, replacing the previous ones. Nothing is sent for an empty list.
    ///
    /// - Throws: `ClientError` when the server cannot be reached, and for a status outside the range 200 to
    ///   299.
    public func registerTools(channelId: String, tools: [ToolRegistrationPayload]) async throws {
        guard !tools.isEmpty else { return }
        let body: JSONValue = ["channel_id": .string(channelId), "tools": try JSONValue(encoding: tools)]
        var options = ClientOptions()
        options.timeout = .seconds(30)
        if let token { options.headers = [("Authorization", "Bearer \(token)")] }
        try await HTTPPost.send(
            RawJSON(body).bytes, to: HTTPEndpoint(url: base + "/register-tools"), options: options)
    }
}
