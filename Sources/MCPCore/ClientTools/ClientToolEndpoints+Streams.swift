/// Programs that are MCP servers over plain HTTP requests, among them web pages.
extension ClientToolEndpoints {
    /// Opens an event stream that carries messages to a program, which the hub has admitted.
    func stream(
        to client: String, in channel: String, from page: String?, wantsReports: Bool
    ) -> HTTPResponse {
        guard let stream = streams.add(channel: channel, origin: page) else {
            return Self.json(503, ["error": "Too many open streams"], [("Retry-After", "10")])
        }
        let events = stream.events()
        let transport = MessageClientTransport(stream, name: client, options: ProviderLink.options)
        let hub = hub
        Task {
            await hub.attach(
                over: transport, channel: channel, clientID: client, wantsReports: wantsReports,
                isProbed: true)
        }
        return .events(events)
    }

    /// Accepts a message of a program with an event stream.
    func message(_ request: HTTPRequest, from page: String?) -> HTTPResponse {
        guard Self.isJSON(request) else {
            return Self.json(415, ["error": "Content-Type must be application/json"])
        }
        guard let stream = request.parameter("link").flatMap({ streams[$0] }), stream.origin == page else {
            return Self.json(404, ["error": "Unknown link: its event stream has ended"])
        }
        guard request.body.count <= ProviderLink.options.maxMessageBytes else {
            return Self.json(413, ["error": "The message is too large"])
        }
        let limits = JSONLimits(maxDepth: JSONLimits.greatestDepth)
        guard let message = try? MessageScanner.scan(request.body, limits: limits),
            [.request, .notification, .response].contains(message.head.kind)
        else {
            return Self.json(400, ["error": "The body must be one JSON-RPC message"])
        }
        guard stream.take(request.body) else {
            stream.end()
            return Self.json(503, ["error": "Too many messages are waiting; the stream ends"])
        }
        return HTTPResponse(status: 202)
    }

    /// Returns a ticket for one event stream of a channel.
    func ticket(_ request: HTTPRequest, from page: String?) -> HTTPResponse {
        guard let channel = request.parameter("channel").flatMap(ChannelName.init(registered:))?.text else {
            return Self.json(400, ["error": "Missing or invalid channel"])
        }
        guard let ticket = tickets.issue(channel: channel, origin: page) else {
            return Self.json(429, ["error": "Too many unused tickets"], [("Retry-After", "10")])
        }
        let body: JSONValue = [
            "ticket": .string(ticket),
            "expires_in": JSONValue(Int(StreamTickets.lifetime.components.seconds)),
        ]
        return Self.json(200, body, [("Cache-Control", "no-store")])
    }
}
