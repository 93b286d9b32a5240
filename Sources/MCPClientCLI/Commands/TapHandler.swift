import MCPCore
import Synchronization

/// The HTTP side of a tap: each request goes to the server, and its response comes back as it arrives.
struct TapHandler: HTTPRequestHandler {
    /// The path of the endpoint, here and there.
    let path: String
    private let relay: HTTPRelay
    private let log: ExchangeLog
    private let filter: ToolFilter?
    /// The fields of `-H` and of a token; they replace those of the client.
    private let headers: [(name: String, value: String)]

    /// Fields that concern one connection, or that the relay writes itself.
    private static let skipped: Set<String> = [
        "host", "connection", "content-length", "transfer-encoding", "keep-alive", "te", "trailer", "upgrade",
        "accept-encoding", "expect", "proxy-connection", "origin",
    ]
    private static let connections = Atomic<Int>(1)

    init(
        _ target: Target, _ options: Options, _ log: ExchangeLog, _ filter: ToolFilter?
    ) throws(Failure) {
        self.log = log
        self.filter = filter
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
                    tls: options.trustFile.map { OpenSSLProvider(trustFile: $0) } ?? OpenSSLProvider.system)
            case .unix(let socket, let endpoint):
                path = endpoint
                relay = try HTTPRelay(unixPath: socket, target: endpoint)
            case .program, .recording:
                throw ClientError(.invalidRequest, "only HTTP targets can be relayed")
            }
        } catch { throw .usage(inlineText(error.message)) }
    }

    func handles(path: String) -> Bool { path == self.path }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        let connection = Self.connections.add(1, ordering: .relaxed).newValue
        var body = request.body.array
        if request.method == "POST" {
            switch filter?.check(body) ?? .pass(body) {
            case .pass(let bytes): body = bytes
            case .refuse(let refusal):
                log.noteRefused(body, with: refusal, connection: connection)
                guard let refusal else { return HTTPResponse(status: 202) }
                return Self.json(refusal)
            }
            log.note(body, from: .client, connection: connection)
        }
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
        do throws(ClientError) {
            let hasBody = request.method == "POST" || !body.isEmpty
            let response = try await relay.send(
                method: request.method, fields: fields, body: hasBody ? body : nil)
            return answer(response, connection)
        } catch {
            return .text("tap: \(error.message)", status: 502)
        }
    }

    private func answer(_ response: HTTPRelay.Response, _ connection: Int) -> HTTPResponse {
        switch response.body {
        case .whole(let bytes):
            log.note(bytes, from: .server, connection: connection)
            var fields = HeaderFields()
            for field in response.fields where !Self.skipped.contains(field.name.lowercased()) {
                try? fields.append(field.name, field.value)
            }
            return HTTPResponse(
                status: response.status, headers: fields, body: .bytes(filter?.filtered(bytes) ?? bytes))
        case .events(let events):
            let (log, filter) = (log, filter)
            let reader = TapEvents(events) { bytes in
                log.note(bytes, from: .server, connection: connection)
                return filter?.filtered(bytes)
            }
            let passed = AsyncStream { await reader.next() }
            var answer = HTTPResponse.events(passed)
            if let session = response.fields["Mcp-Session-Id"] {
                try? answer.headers.append("Mcp-Session-Id", session)
            }
            return answer
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
    private let change: @Sendable ([UInt8]) -> [UInt8]?

    /// - Parameter change: returns what takes the place of a message; nil for the message itself.
    init(_ events: AsyncStream<SSEEvent>, change: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
        self.events = events.makeAsyncIterator()
        self.change = change
    }

    func next() async -> SSEEvent? {
        // Taken out, because the actor may not be blocked while it waits.
        guard var iterator = events.take() else { return nil }
        guard var event = await iterator.next(isolation: self) else { return nil }
        events = iterator
        if let changed = change(event.data.array) { event.data = ByteSlice(changed) }
        return event
    }
}
