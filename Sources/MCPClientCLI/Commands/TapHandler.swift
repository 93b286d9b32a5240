import MCPCore
import Synchronization

/// The HTTP side of a tap: each request goes to the server, and its response comes back as it arrives.
struct TapHandler: HTTPRequestHandler {
    /// The path of the endpoint, here and there.
    let path: String
    private let relay: HTTPRelay
    private let log: ExchangeLog
    private let filter: ToolFilter?
    private let notes: TapNotes
    /// The command that logs in, for a server without a login.
    private let login: String
    private let announced = AnnouncedTargets()
    /// The fields of `-H` and of a token; they replace those of the client.
    private let headers: [(name: String, value: String)]

    /// Fields that concern one connection, or that the relay writes itself.
    private static let skipped: Set<String> = [
        "host", "connection", "content-length", "transfer-encoding", "keep-alive", "te", "trailer", "upgrade",
        "accept-encoding", "expect", "proxy-connection", "origin",
    ]
    private static let requests = Atomic<Int>(0)

    /// - Parameters:
    ///   - authorizer: the stored login for requests without a token.
    ///   - login: the command that logs in.
    init(
        _ target: Target, _ options: Options, _ log: ExchangeLog, _ filter: ToolFilter?,
        authorizer: (any RequestAuthorizer)? = nil, notes: TapNotes = TapNotes(),
        login: String = "mcp-client login TARGET"
    ) throws(Failure) {
        self.log = log
        self.filter = filter
        self.notes = notes
        self.login = login
        headers = options.headers.map { ($0.name, $0.value) }
        do throws(ClientError) {
            switch target {
            case .http(let url):
                let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
                path =
                    url[start...].firstIndex(of: "/").map { slash in
                        String(url[slash...].prefix { $0 != "?" && $0 != "#" })
                    } ?? "/"
                relay = try HTTPRelay(
                    url: url,
                    tls: options.trustFile.map { OpenSSLProvider(trustFile: $0) } ?? OpenSSLProvider.system,
                    authorizer: authorizer)
            case .unix(let socket, let endpoint):
                path = endpoint
                relay = try HTTPRelay(unixPath: socket, target: endpoint)
            case .program, .recording:
                throw ClientError(.invalidRequest, "only HTTP targets can be relayed")
            }
        } catch { throw .usage(inlineText(error.message)) }
    }

    func handles(path: String) -> Bool { isEndpoint(path) || announced.contains(path: path) }

    /// Whether a decoded path is that of the endpoint.
    private func isEndpoint(_ path: String) -> Bool {
        path == HTTPRequest(method: "POST", target: self.path).path
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        let number = Self.requests.add(1, ordering: .relaxed).newValue
        let stream = request.method == "POST" ? announced.stream(of: request.target) : nil
        // Nothing but what the server has announced is passed on to another address than its own.
        guard stream != nil || isEndpoint(request.path) else { return .text("Not Found", status: 404) }
        let session = request.headers["Mcp-Session-Id"]
        let conversation =
            stream.map { ExchangeLog.Conversation.request($0.number) }
            ?? session.map { .session($0) } ?? .request(number)
        var body = request.body.array
        if request.method == "POST" {
            switch filter?.check(body) ?? .pass(body) {
            case .pass(let bytes): body = bytes
            case .refuse(let refusal):
                log.noteRefused(body, with: refusal, in: conversation)
                guard let refusal else { return HTTPResponse(status: 202) }
                guard let stream else { return Self.json(refusal) }
                // Clients of 2024-11-05 read responses on the stream only.
                stream.insert(SSEEvent(data: ByteSlice(refusal)))
                return HTTPResponse(status: 202)
            }
            log.note(body, from: .client, in: conversation)
        }
        do throws(ClientError) {
            let hasBody = request.method == "POST" || !body.isEmpty
            let fields = fields(of: request)
            let response = try await relay.send(
                method: request.method, target: stream?.target, fields: fields, body: hasBody ? body : nil)
            if response.status == 401, fields["Authorization"] == nil {
                notes.once("the server requires a token that the client did not send: \(remedy)")
            }
            return answer(response, conversation, stream: request.method == "GET" ? number : nil)
        } catch {
            if error.kind == .authentication {
                notes.once("the stored login cannot be used any more: \(remedy)")
            }
            return .text("tap: \(error.message)", status: 502)
        }
    }

    /// What to do about a server that requires a token.
    private var remedy: String { "\(login), then start tap again" }

    /// Returns the fields that are passed on, in which ours replace those of the client.
    private func fields(of request: HTTPRequest) -> HeaderFields {
        var fields = HeaderFields()
        let replaced = Set(headers.map { $0.name.lowercased() })
        for field in request.headers {
            let name = field.name.lowercased()
            // A field that was received can be sent.
            if !Self.skipped.contains(name), !replaced.contains(name) {
                try? fields.append(field.name, field.value)
            }
        }
        for header in headers { try? fields.append(header.name, header.value) }
        return fields
    }

    /// - Parameter stream: the number of the request, if it opens an event stream.
    private func answer(
        _ response: HTTPRelay.Response, _ conversation: ExchangeLog.Conversation, stream: Int?
    ) -> HTTPResponse {
        switch response.body {
        case .whole(let bytes):
            log.note(bytes, from: .server, in: conversation)
            var fields = HeaderFields()
            for field in response.fields where !Self.skipped.contains(field.name.lowercased()) {
                try? fields.append(field.name, field.value)
            }
            return HTTPResponse(
                status: response.status, headers: fields, body: .bytes(filter?.filtered(bytes) ?? bytes))
        case .events(let events, let insert):
            let (log, filter) = (log, filter)
            let reader = TapEvents(events) { [announced] in
                if let stream { announced.end(stream) }
            } change: { event in
                if let stream, event.type == "endpoint" { return announcing(event, stream, insert) }
                let bytes = event.data.array
                log.note(bytes, from: .server, in: conversation)
                guard let changed = filter?.filtered(bytes) else { return event }
                return SSEEvent(data: ByteSlice(changed), id: event.id, type: event.type)
            }
            let passed = AsyncStream { await reader.next() }
            var answer = HTTPResponse.events(passed)
            if let session = response.fields["Mcp-Session-Id"] {
                try? answer.headers.append("Mcp-Session-Id", session)
            }
            return answer
        }
    }

    /// Admits the address that an event announces, which is the same here, and returns the event.
    private func announcing(
        _ event: SSEEvent, _ number: Int, _ insert: @escaping @Sendable (SSEEvent) -> Void
    ) -> SSEEvent? {
        do throws(ClientError) {
            let target = try relay.target(of: String(event.data))
            announced.open(AnnouncedTargets.Stream(number: number, target: target, insert: insert))
            return SSEEvent(data: ByteSlice(target), id: event.id, type: event.type)
        } catch {
            // Its clients would go past the tap.
            let reason = inlineText(MaskedText.urls(in: error.message))
            notes.once("\(reason): its event stream was ended", about: "the announced address")
            return nil
        }
    }

    private static func json(_ bytes: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: 200, headers: jsonFields, body: .bytes(bytes))
    }

    static let jsonFields = (try? HeaderFields(["Content-Type": "application/json"])) ?? HeaderFields()
}

/// The events of a response, as they are passed on.
private actor TapEvents {
    private var events: AsyncStream<SSEEvent>.AsyncIterator?
    private let change: @Sendable (SSEEvent) -> SSEEvent?
    private let ended: @Sendable () -> Void

    /// - Parameters:
    ///   - ended: called when no further event is passed on, also because the reader has gone.
    ///   - change: returns what takes the place of an event; nil ends the stream.
    init(
        _ events: AsyncStream<SSEEvent>, ended: @escaping @Sendable () -> Void,
        change: @escaping @Sendable (SSEEvent) -> SSEEvent?
    ) {
        self.events = events.makeAsyncIterator()
        self.change = change
        self.ended = ended
    }

    deinit { ended() }

    func next() async -> SSEEvent? {
        // Taken out, because the actor may not be blocked while it waits.
        guard var iterator = events.take() else { return nil }
        guard let event = await iterator.next(isolation: self), let changed = change(event) else {
            ended()
            return nil
        }
        events = iterator
        return changed
    }
}
