/// The HTTP endpoints for programs that offer tools, and for agents of a channel.
///
/// | path | for |
/// |---|---|
/// | `/mcp/channels/{channel}` | agents: the MCP endpoint of a channel |
/// | `/providers` | programs that turn the connection into one on which they are the MCP server |
/// | `/providers` with GET | the same over an event stream, for web pages and behind proxies |
/// | `/providers/messages` | the messages of programs with such an event stream |
/// | `/client-tools/ticket` | web pages: a ticket for one event stream |
/// | `/register-tools` | clients of Stream's registration endpoint |
/// | `/client-tools/events`, `/client-tools/result` | the calls of such clients, and their results |
///
/// Pass it to `ServerTransport.http`, as `servers` and as `handler`.
public struct ClientToolEndpoints: HTTPRequestHandler, MCPServerRouter {
    let hub: ClientToolHub
    let streams = ProviderStreams()
    let tickets: StreamTickets
    private let pages: PageAccess
    private let token: BearerToken?
    private let registrationNeedsToken: Bool
    /// The tokens, by channel.
    private let channelTokens: [String: BearerToken]

    /// Creates the endpoints of a hub.
    ///
    /// - Parameters:
    ///   - token: the token that programs send as `Authorization: Bearer`, unless they are processes of the
    ///     same user on a unix socket. Nil admits everyone: for listeners that only this user can reach.
    ///   - registrationNeedsToken: false admits everyone at Stream's registration endpoint and the endpoints
    ///     that belong to it, since its clients send no token; `/providers` still requires the token.
    ///   - channelTokens: by channel, the token that every client of that channel sends: agents, which need
    ///     no token elsewhere, and programs, for which it replaces `token`. Plain `/mcp` requires no token,
    ///     so the channel that is served there should not have one.
    ///   - origins: the origins of web pages, such as `https://app.example`, that may use these endpoints
    ///     besides those of the server's `AccessPolicy`, but no MCP endpoint.
    public init(
        _ hub: ClientToolHub, token: String?, registrationNeedsToken: Bool = true,
        channelTokens: [String: String] = [:], origins: [String] = []
    ) {
        self.hub = hub
        tickets = StreamTickets(clock: hub.clock)
        pages = PageAccess(origins)
        self.registrationNeedsToken = registrationNeedsToken
        self.token = token.map(BearerToken.init)
        self.channelTokens = channelTokens.mapValues(BearerToken.init)
    }

    private static let channelPrefix = "/mcp/channels/"

    /// Returns the server of `/mcp/channels/{channel}`.
    public func server(atPath path: String) -> MCPServer? {
        // `admits` has already checked the token of a channel that has one.
        Self.channel(atPath: path).flatMap {
            try? hub.servers.server(for: $0, isReserved: channelTokens[$0] != nil)
        }
    }

    private static func channel(atPath path: String) -> String? {
        path.hasPrefix(channelPrefix) ? String(path.dropFirst(channelPrefix.count)) : nil
    }

    /// Returns whether an agent may access a channel; every agent may if the channel has no token of its own.
    public func admits(path: String, isFromOwnUser: () -> Bool, authorization: () -> String?) -> Bool {
        guard !channelTokens.isEmpty, let channel = Self.channel(atPath: path),
            let token = channelTokens[channel]
        else { return true }
        return isFromOwnUser() || token.isShown(by: authorization())
    }

    /// Returns whether the path is one of those for programs.
    public func handles(path: String) -> Bool {
        switch path {
        case "/providers", "/providers/messages", "/register-tools", "/client-tools/events",
            "/client-tools/result", "/client-tools/ticket":
            true
        default: false
        }
    }

    /// Returns whether a web page of this origin may use these endpoints.
    public func admits(origin: String, path: String) -> Bool { pages.admits(origin) }

    /// Returns the response to a request for one of these paths.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard let origin = pages.origin(of: request) else { return await answer(request, from: nil) }
        if request.method == "OPTIONS" {
            let isStream = request.path == "/providers" || request.path == "/client-tools/events"
            return PageAccess.preflight(isStream ? "GET" : "POST", origin)
        }
        var response = await answer(request, from: PageAccess.isOwn(origin, request) ? nil : origin)
        PageAccess.admit(origin, to: &response)
        return response
    }

    /// - Parameter page: the origin of an admitted page of another server.
    private func answer(_ request: HTTPRequest, from page: String?) async -> HTTPResponse {
        if let name = Self.repeatedParameter(of: request) {
            return Self.json(400, ["error": "The parameter \(name) is given more than once"])
        }
        if !request.headers.values(of: "Content-Encoding").allSatisfy({ EarlyResponse.isPlain($0.utf8) }) {
            return Self.json(
                415, ["error": .string(EarlyResponse.bodyIsCoded)], [("Accept-Encoding", "identity")])
        }
        if let reason = await refusal(of: request, from: page) {
            return Self.json(401, ["error": .string(reason)], [("WWW-Authenticate", "Bearer")])
        }
        let methods = Self.methods(of: request.path)
        guard methods.contains(request.method) else {
            let allowed = methods.joined(separator: ", ")
            return Self.json(405, ["error": "Method not allowed"], [("Allow", allowed)])
        }
        do throws(StreamChatRefusal) {
            switch request.path {
            case "/providers": return await provider(request, from: page)
            case "/providers/messages": return message(request, from: page)
            case "/client-tools/ticket": return ticket(request, from: page)
            case "/register-tools": return try await register(request)
            case "/client-tools/events": return try await events(request)
            default: return try await result(request)
            }
        } catch {
            return Self.json(error.status, error.body)
        }
    }

    private static func methods(of path: String) -> [String] {
        switch path {
        case "/providers": ["GET", "POST"]
        case "/client-tools/events": ["GET"]
        default: ["POST"]
        }
    }

    /// The parameters that say who may do what: a proxy could have read another value than this server does.
    private static let parameters = [
        "channel", "channel_id", "client", "link", "report", "results", "ticket",
    ]

    private static func repeatedParameter(of request: HTTPRequest) -> String? {
        let names = request.query.map(\.name)
        return parameters.first { name in names.count { $0 == name } > 1 }
    }

    /// Returns the reason why a request is refused; nil for one that is allowed.
    private func refusal(of request: HTTPRequest, from page: String?) async -> String? {
        if request.isFromOwnUser { return nil }
        var reason = "Missing or wrong token"
        if request.method == "GET", let ticket = request.parameter("ticket"),
            let channel = await channel(of: request)
        {
            do throws(StreamTickets.Refusal) {
                try tickets.redeem(ticket, channel: channel, origin: page)
                return nil
            } catch {
                reason = error.rawValue
            }
        }
        return await isAllowed(request) ? nil : reason
    }

    private func isAllowed(_ request: HTTPRequest) async -> Bool {
        let sent = request.headers["Authorization"]
        if !channelTokens.isEmpty {
            if let channel = await channel(of: request) {
                if let own = channelTokens[channel] { return own.isShown(by: sent) }
            } else if request.path == "/client-tools/result" || request.path == "/providers/messages",
                channelTokens.values.contains(where: { $0.isShown(by: sent) })
            {
                // A client with the token of any channel may learn that its call or its stream has ended.
                return true
            }
        }
        guard let token else { return true }
        // A ticket also opens the stream of a provider.
        let isOfProviders = request.path.hasPrefix("/providers") || request.path == "/client-tools/ticket"
        if !registrationNeedsToken, !isOfProviders { return true }
        return token.isShown(by: sent)
    }

    /// Returns the channel that a program names; nil when it names none, or one that cannot exist.
    private func channel(of request: HTTPRequest) async -> String? {
        let sent: String?
        switch request.path {
        case "/providers", "/client-tools/ticket": sent = request.parameter("channel")
        case "/providers/messages": return request.parameter("link").flatMap { streams[$0] }?.channel
        case "/client-tools/events": sent = request.parameter("channel_id")
        case "/register-tools": sent = Self.member("channel_id", of: request)
        default:
            guard let id = Self.member("invocation_id", of: request) else { return nil }
            return await hub.channel(ofCall: id)
        }
        return sent.flatMap(ChannelName.init(registered:))?.text
    }

    /// Whether a client of the façade counts among those with a token: it has sent one, or the endpoint
    /// admits nobody else.
    private func isReserved(_ channel: String, _ request: HTTPRequest) -> Bool {
        registrationNeedsToken || request.isFromOwnUser || channelTokens[channel] != nil
            || token?.isShown(by: request.headers["Authorization"]) == true
    }

    static func member(_ name: String, of request: HTTPRequest) -> String? {
        (try? StreamChatRegistration.object(request.body, isJSON: isJSON(request)))?[name]?.stringValue
    }

    // MARK: Programs that are MCP servers

    private func provider(_ request: HTTPRequest, from page: String?) async -> HTTPResponse {
        guard let channel = request.parameter("channel").flatMap(ChannelName.init(registered:))?.text else {
            return Self.json(400, ["error": "Missing or invalid channel"])
        }
        let client = request.parameter("client") ?? "client-" + Hex.encode(SystemRandom().bytes(8))
        guard ChannelName(client) != nil else { return Self.json(400, ["error": "Invalid client"]) }
        if let problem = await hub.problem(withName: client, in: channel) {
            return Self.json(409, ["error": .string(problem)])
        }
        guard (try? hub.server(for: channel)) != nil else {
            return Self.json(503, ["error": "No room for another channel"])
        }
        let isStream = request.method == "GET"
        // A request that opens no connection is not counted.
        if isStream || request.asksToUpgrade(to: "mcp") {
            do {
                try await hub.admit(client, in: channel)
            } catch {
                await hub.logRefusal(of: client, in: channel, error)
                return Self.json(429, ["error": .string("\(error)")], [("Retry-After", "10")])
            }
        }
        let hub = hub
        let wantsReports = request.parameter("report") == "1"
        if isStream { return stream(to: client, in: channel, from: page, wantsReports: wantsReports) }
        return .upgrade(to: "mcp") { socket in
            let transport: SocketClientTransport
            do {
                transport = try SocketClientTransport(socket, name: client, options: ProviderLink.options)
            } catch {
                return
            }
            Task {
                await hub.attach(
                    over: transport, channel: channel, clientID: client, wantsReports: wantsReports)
            }
        }
    }

    // MARK: The façade

    private func register(_ request: HTTPRequest) async throws(StreamChatRefusal) -> HTTPResponse {
        let hub = hub
        let registration = try StreamChatRegistration(request.body, isJSON: Self.isJSON(request)) {
            channel, name in
            hub.servers.ownTools(of: channel, isReserved: isReserved(channel, request)).contains(name)
        }
        do {
            try await hub.register(
                registration, isReserved: isReserved(registration.channel, request))
        } catch {
            throw .tooManyRegistrations
        }
        return Self.json(200, registration.answer)
    }

    private func events(_ request: HTTPRequest) async throws(StreamChatRefusal) -> HTTPResponse {
        guard let sent = request.parameter("channel_id"), !sent.trimmedLikeJavaScript().isEmpty else {
            throw .missingChannel
        }
        guard let channel = ChannelName(registered: sent)?.text else { throw .invalidChannel }
        let (stream, continuation) = AsyncStream.makeStream(
            of: SSEEvent.self, bufferingPolicy: .bufferingOldest(ClientToolLimits.waitingEvents))
        let listener = EventFeed.Listener(
            wantsResults: request.parameter("results") == "1",
            send: { id, data in
                if case .enqueued = continuation.yield(SSEEvent(data: data, id: id)) {
                    true
                } else {
                    false
                }
            },
            end: { continuation.finish() })
        let number = await hub.listen(
            listener, in: channel, after: request.headers["Last-Event-ID"],
            isReserved: isReserved(channel, request))
        guard let number else { throw .tooManyListeners }
        let hub = hub
        continuation.onTermination = { _ in Task { await hub.stopListening(number, in: channel) } }
        return .events(stream)
    }

    private func result(_ request: HTTPRequest) async throws(StreamChatRefusal) -> HTTPResponse {
        let object = try StreamChatRegistration.object(request.body, isJSON: Self.isJSON(request))
        guard let id = object["invocation_id"]?.stringValue else { throw .unknownInvocation }
        let result: CallToolResult
        if let failure = object["error"] {
            result = .error(failure["message"]?.stringValue ?? "The client failed without an error message.")
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

    // MARK: Responses

    static func isJSON(_ request: HTTPRequest) -> Bool {
        request.headers["Content-Type"].map { MediaType.isJSON(ByteSlice($0)) } ?? false
    }

    static func json(
        _ status: Int, _ body: JSONValue, _ fields: [(String, String)] = []
    ) -> HTTPResponse {
        var headers = HeaderFields()
        for (name, value) in [("Content-Type", "application/json")] + fields {
            // The names and values are fixed here.
            try? headers.append(name, value)
        }
        return HTTPResponse(status: status, headers: headers, body: .bytes(RawJSON(body).bytes.array))
    }
}
