/// The HTTP endpoints for programs that offer tools, and for agents of a channel.
///
/// | path | for |
/// |---|---|
/// | `/mcp/channels/{channel}` | agents: the MCP endpoint of a channel |
/// | `/providers` | programs that turn the connection into one on which they are the MCP server |
/// | `/register-tools` | clients of Stream's registration endpoint |
/// | `/client-tools/events`, `/client-tools/result` | the calls of such clients, and their results |
///
/// Give it to `HTTPServerOptions.sideDoor`.
public struct ClientToolEndpoints: HTTPSideDoor {
    private let hub: ClientToolHub
    /// The digest of the token, so that comparing it tells nothing of its length.
    private let token: SHA256.Digest?
    private let registrationNeedsToken: Bool

    /// Makes the endpoints of a hub.
    ///
    /// - Parameters:
    ///   - token: what programs show as `Authorization: Bearer`, unless they are processes of our own user at
    ///     a unix socket. Nil lets everybody in: for listeners that only this user can reach.
    ///   - registrationNeedsToken: false lets everybody in at Stream's registration endpoint and what belongs
    ///     to it, since its clients send none; `/providers` still wants the token.
    public init(_ hub: ClientToolHub, token: String?, registrationNeedsToken: Bool = true) {
        self.hub = hub
        self.registrationNeedsToken = registrationNeedsToken
        self.token = token.map { SHA256.hash(Array($0.utf8)) }
    }

    private static let channelPrefix = "/mcp/channels/"

    /// The server of `/mcp/channels/{channel}`.
    public func server(atPath path: String) -> MCPServer? {
        guard path.hasPrefix(Self.channelPrefix) else { return nil }
        return try? hub.server(for: String(path.dropFirst(Self.channelPrefix.count)))
    }

    /// Whether it is one of the paths for programs.
    public func handles(path: String) -> Bool {
        switch path {
        case "/providers", "/register-tools", "/client-tools/events", "/client-tools/result": true
        default: false
        }
    }

    /// Answers a request for one of these paths.
    public func answer(_ request: HTTPSideRequest) async -> HTTPSideAnswer {
        guard isAllowed(request) else {
            return Self.json(401, ["error": "Missing or wrong token"], [("WWW-Authenticate", "Bearer")])
        }
        let method = request.path == "/client-tools/events" ? "GET" : "POST"
        guard request.method == method else {
            return Self.json(405, ["error": "Method not allowed"], [("Allow", method)])
        }
        do throws(FacadeRefusal) {
            switch request.path {
            case "/providers": return provider(request)
            case "/register-tools": return try await register(request)
            case "/client-tools/events": return try await events(request)
            default: return try await result(request)
            }
        } catch {
            return Self.json(error.status, error.body)
        }
    }

    private func isAllowed(_ request: HTTPSideRequest) -> Bool {
        guard let token, !request.isFromOwnUser else { return true }
        if !registrationNeedsToken, request.path != "/providers" { return true }
        guard let sent = request.headers["Authorization"] else { return false }
        let words = sent.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return false }
        return constantTimeEquals(SHA256.hash(Array(words[1].utf8)).bytes, token.bytes)
    }

    // MARK: Programs that are MCP servers

    private func provider(_ request: HTTPSideRequest) -> HTTPSideAnswer {
        guard let channel = request.parameter("channel").flatMap(ChannelName.init(registered:))?.text else {
            return Self.json(400, ["error": "Missing or invalid channel"])
        }
        let client = request.parameter("client") ?? "client-" + Hex.encode(SystemRandom().bytes(8))
        guard ChannelName(client) != nil else { return Self.json(400, ["error": "Invalid client"]) }
        guard (try? hub.server(for: channel)) != nil else {
            return Self.json(503, ["error": "No room for another channel"])
        }
        let hub = hub
        return .upgrade(to: "mcp") { socket in
            let transport: SocketClientTransport
            do {
                transport = try SocketClientTransport(socket, name: client, options: ProviderLink.options)
            } catch {
                return
            }
            Task { await hub.attach(over: transport, channel: channel, clientID: client) }
        }
    }

    // MARK: The façade

    private func register(_ request: HTTPSideRequest) async throws(FacadeRefusal) -> HTTPSideAnswer {
        let hub = hub
        let registration = try FacadeRegistration(request.body, isJSON: Self.isJSON(request)) {
            channel, name in hub.servers.ownTools(of: channel).contains(name)
        }
        do {
            try await hub.register(registration)
        } catch {
            throw .tooManyRegistrations
        }
        return Self.json(200, registration.answer)
    }

    private func events(_ request: HTTPSideRequest) async throws(FacadeRefusal) -> HTTPSideAnswer {
        guard let sent = request.parameter("channel_id"), !sent.trimmedLikeJavaScript().isEmpty else {
            throw .missingChannel
        }
        guard let channel = ChannelName(registered: sent)?.text else { throw .invalidChannel }
        let (stream, continuation) = AsyncStream.makeStream(
            of: HTTPSideEvent.self, bufferingPolicy: .bufferingOldest(ClientToolLimits.waitingEvents))
        let listener = EventFeed.Listener(
            wantsResults: request.parameter("results") == "1",
            send: { id, data in
                if case .enqueued = continuation.yield(HTTPSideEvent(id: id, data: data)) {
                    true
                } else {
                    false
                }
            },
            end: { continuation.finish() })
        guard let number = await hub.listen(listener, in: channel, after: request.headers["Last-Event-ID"])
        else { throw .tooManyListeners }
        let hub = hub
        continuation.onTermination = { _ in Task { await hub.stopListening(number, in: channel) } }
        return .events(stream)
    }

    private func result(_ request: HTTPSideRequest) async throws(FacadeRefusal) -> HTTPSideAnswer {
        let object = try FacadeRegistration.object(request.body, isJSON: Self.isJSON(request))
        guard let id = object["invocation_id"]?.stringValue else { throw .unknownInvocation }
        let result: CallToolResult
        if let failure = object["error"] {
            result = .error(failure["message"]?.stringValue ?? "The client failed without a word.")
        } else if let value = object["result"], value.objectValue != nil,
            let read = try? CallToolResult(json: value)
        {
            result = read
        } else {
            throw .invalidResult
        }
        guard await hub.complete(id, with: result) else { throw .unknownInvocation }
        return Self.json(200, ["message": "Result accepted"])
    }

    // MARK: Answers

    private static func isJSON(_ request: HTTPSideRequest) -> Bool {
        request.headers["Content-Type"].map { MediaType.isJSON(ByteSlice($0)) } ?? false
    }

    private static func json(
        _ status: Int, _ body: JSONValue, _ fields: [(String, String)] = []
    ) -> HTTPSideAnswer {
        var headers = HeaderFields()
        for (name, value) in [("Content-Type", "application/json")] + fields {
            // Names and values are ours.
            try? headers.append(name, value)
        }
        return .response(
            HTTPResponse(status: status, headers: headers, body: .bytes(RawJSON(body).bytes.array)))
    }
}
