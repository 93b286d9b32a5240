/// One request and its response: the meaning of each part of the response, and who is notified.
/// Confined to the loop.
final class HTTPClientExchange {
    private let counted = Counted(.httpClientExchange)

    /// The number of bytes of an unusable body that an error shows.
    private static let snippetBytes = 300

    let request: HTTPClientRequest
    let pool: HTTPClientPool
    // SAFETY: accessed only on the loop, and in single steps during which nothing is called that would access
    // them too. `connection` refers back to this until one of them ends.
    @safe @exclusivity(unchecked) var connection: HTTPClientConnection?
    /// Whether the request was sent again after a connection that had been kept open ended.
    var isRepeated = false
    /// Whether the server may have read part of the request: at least one byte of it was sent.
    @safe @exclusivity(unchecked) var wasSent = false
    @safe @exclusivity(unchecked) private(set) var isOver = false
    /// Whether the response is an event stream.
    private var isStream = false
    /// The position up to which its event stream was read.
    private(set) var position: HTTPStreamPosition
    /// The receiver of the event stream of a GET.
    private(set) var listener: (any HTTPStreamListener)?
    private var timer: LoopTimer?
    /// The credentials, if the pool has an authorizer.
    var credentials: HTTPCredentials?

    init(
        _ request: HTTPClientRequest, _ pool: HTTPClientPool, to listener: (any HTTPStreamListener)? = nil,
        behind position: HTTPStreamPosition = HTTPStreamPosition()
    ) {
        self.request = request
        self.pool = pool
        self.listener = listener
        self.position = position
        startLimit()
    }

    private func startLimit() {
        timer = request.limit.map { limit in
            pool.loop.schedule(after: limit.duration) { [weak self] in self?.giveUp(limit.error) }
        }
    }

    /// Stops the time limit of the request while it waits for credentials, and starts it again.
    func pauseLimit(_ isPaused: Bool) {
        // Nobody logs in to end a session.
        guard request.method != "DELETE" else { return }
        timer?.cancel()
        timer = nil
        if !isPaused { startLimit() }
    }

    private func giveUp(_ error: ClientError) {
        let connection = connection
        fail(error)
        connection?.close()
    }

    /// Whether a caller waits for something that is still to come.
    var isWaiting: Bool {
        guard let id = request.id else { return !isOver }
        return !isOver && pool.inbox?.isWaiting(id) == true
    }

    func fail(_ error: ClientError) {
        guard !isOver, !takesUpAgain(error) else { return }
        var error = pool.options.secrets?.mask(error) ?? error
        error.isUnsent = !wasSent
        let listener = listener
        end(error)
        listener?.streamEnded(error)
        guard let id = request.id else { return }
        pool.inbox?.fail(id, error)
        // A change may have been on its way beside the response.
        if isStream, error.kind == .connectionClosed { pool.inbox?.messagesMayBeLost() }
    }

    /// Resumes the event stream if possible (LEG-19): the rest of a response may still be available when its
    /// stream broke after an event with an id.
    private func takesUpAgain(_ error: ClientError) -> Bool {
        guard let id = request.id, request.isResumable, error.kind == .connectionClosed,
            !position.lastEventID.isEmpty, isWaiting, !pool.isClosed
        else { return false }
        end(nil)
        pool.resume(request, id, behind: position, error)
        return true
    }

    /// Ends the exchange, because no caller waits for it any more, and closes its connection.
    func drop() {
        let connection = connection
        end(ClientError(.cancelled, "the request was abandoned"))
        connection?.close()
    }

    /// Ends the exchange in an orderly way: everything that was wanted has arrived.
    func finish() { end(nil) }

    private func end(_ error: ClientError?) {
        guard !isOver else { return }
        isOver = true
        connection = nil
        cancelCredentials()
        listener = nil
        timer?.cancel()
        timer = nil
        pool.ended(self)
        request.completion?(error)
    }

    // MARK: The response

    /// Examines the head, before the body arrives. Throws when no body can help.
    func receiveHead(_ head: ResponseHead, _ bytes: ByteSlice) throws(ClientError) {
        if let trace = pool.options.trace {
            let lines = HTTPClientFields.masked(bytes[head.start ..< head.byteCount])
            trace(.httpResponse(status: head.status, head: lines))
        }
        if (300 ..< 400).contains(head.status), request.response == nil {
            throw ClientError(redirect: head.value(.location, in: bytes).map { String($0) }, head.status)
        }
        if let coding = head.value(.contentEncoding, in: bytes),
            !ASCII.equalsIgnoringCase(coding, "identity".utf8)
        {
            throw ClientError(
                .protocolViolation,
                "the server sent an unrequested Content-Encoding: \(String(coding))",
                httpStatus: head.status)
        }
        if request.method == "initialize", (200 ..< 300).contains(head.status) {
            try openSession(head.value(.mcpSessionID, in: bytes))
        }
    }

    /// Opens the session that the response names; a session id is visible ASCII (LEG-21).
    private func openSession(_ value: ByteSlice?) throws(ClientError) {
        if let value, value.isEmpty || value.count > 1_024 || !value.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw ClientError(
                .protocolViolation, "the server's session id is not 1 to 1024 visible characters")
        }
        pool.session.open(value.map { String($0) })
    }

    /// Notifies the listener that the response is an event stream.
    func streamBegan(_ head: ResponseHead, _ bytes: ByteSlice) {
        isStream = true
        listener?.streamBegan()
        request.stream?.begin(HTTPFetch.Response(head, bytes, ByteSlice()))
    }

    /// Processes one event of an event stream.
    func receive(_ event: SSEEvent) {
        if let listener { return listener.receive(event) }
        if let stream = request.stream { return stream.receive(event) }
        // An event without data primes a stream that could be resumed; other types do not belong to MCP.
        guard event.type == "message", !event.data.isEmpty else { return }
        pool.inbox?.receive(event.data, exchange: request.id, status: nil)
        if let id = request.id, pool.inbox?.isWaiting(id) != true { end(nil) }
    }

    /// Records that the events up to this one were processed.
    func reach(_ id: String, retryMilliseconds: Int?) {
        position.reach(id, retryMilliseconds: retryMilliseconds)
        listener?.reached(position)
    }

    /// Handles the end of the event stream.
    func endOfEvents() {
        guard request.id != nil else {
            let listener = listener
            end(nil)
            listener?.streamEnded(nil)
            return
        }
        fail(
            ClientError(
                .connectionClosed, "the event stream ended without the response to \(request.method)"))
    }

    /// Processes the whole body of a response that is not an event stream.
    func receiveEnd(_ head: ResponseHead, _ bytes: ByteSlice, body: ByteSlice) {
        if let take = request.response {
            if [401, 403].contains(head.status), credentials != nil,
                asksForCredentials(head, bytes, authentication(head, bytes, body))
            {
                return
            }
            take(HTTPFetch.Response(head, bytes, body))
            return end(nil)
        }
        let status = head.status
        switch status {
        case 200 ..< 300: accept(success: head, bytes, body)
        case 401, 403:
            let error = authentication(head, bytes, body)
            if credentials == nil || !asksForCredentials(head, bytes, error) { fail(error) }
        case 404 where request.session != nil:
            // A result means that the request was carried out, whatever the status: it is not sent again.
            if let id = request.id, (try? JSONValue(parsing: String(body)))?["result"] != nil {
                pool.inbox?.receive(body, exchange: id, status: status)
                if pool.inbox?.isWaiting(id) != true { return end(nil) }
            }
            fail(
                ClientError(.sessionExpired, "the server no longer knows the session", httpStatus: 404)
            )
        default:
            // A refused notification is not worth an error.
            guard let id = request.id else {
                return request.mustBeTaken ? fail(refusal(head, bytes, body)) : end(nil)
            }
            if body.first(where: { !Self.isSpace($0) }) == UInt8(ascii: "{") {
                pool.inbox?.receive(body, exchange: id, status: status)
                if pool.inbox?.isWaiting(id) != true { return end(nil) }
            }
            fail(refusal(head, bytes, body))
        }
    }

    private func accept(success head: ResponseHead, _ bytes: ByteSlice, _ body: ByteSlice) {
        if listener != nil { return fail(violation("the server did not respond with an event stream", head)) }
        guard let id = request.id else { return end(nil) }
        if body.allSatisfy(Self.isSpace) {
            return fail(
                violation("the server answered \(request.method) with HTTP \(head.status) and no body", head))
        }
        let type = head.value(.contentType, in: bytes)
        guard let type, MediaType.isJSON(type) else {
            let text = type.map { "of type \(String($0))" } ?? "without a Content-Type"
            return fail(
                violation("the server answered \(request.method) with a body \(text), not JSON", head, body))
        }
        pool.inbox?.receive(body, exchange: id, status: nil)
        if pool.inbox?.isWaiting(id) != true { return end(nil) }
        fail(violation("the body is not a JSON-RPC response to \(request.method)", head, body))
    }

    private func violation(_ text: String, _ head: ResponseHead, _ body: ByteSlice = ByteSlice())
        -> ClientError
    {
        ClientError(.protocolViolation, text, details: snippet(body), httpStatus: head.status)
    }

    private func authentication(_ head: ResponseHead, _ bytes: ByteSlice, _ body: ByteSlice) -> ClientError {
        let challenges = head.values(named: "www-authenticate", in: bytes).prefix(8).map {
            "WWW-Authenticate: \(String($0))"
        }
        let isMissing = head.status == 401
        var hint = isMissing ? "send a token in the Authorization header" : nil
        if pool.options.authorizer != nil {
            hint =
                pool.authorizer == nil
                ? "tokens are sent over https, to this machine and over unix sockets only" : nil
        }
        return ClientError(
            .authentication,
            isMissing
                ? "the server requires an access token (HTTP 401)" : "the server denies access (HTTP 403)",
            details: challenges + snippet(body).map(SecretMask.json), hint: hint,
            httpStatus: head.status)
    }

    private func refusal(_ head: ResponseHead, _ bytes: ByteSlice, _ body: ByteSlice) -> ClientError {
        let retry = head.value(.retryAfter, in: bytes).map { ["Retry-After: \(String($0))"] } ?? []
        // A server that fails, or a proxy that has lost it, does not refuse.
        let verb = [500, 502, 504].contains(head.status) ? "answered" : "refused"
        return ClientError(
            .httpStatus, "the server \(verb) \(request.subject) with HTTP \(head.status)",
            details: retry + snippet(body), hint: hint(head.status, body), httpStatus: head.status)
    }

    /// Returns a hint for a status that reports an excessive size (HTTPC-11), or a request without TLS.
    private func hint(_ status: Int, _ body: ByteSlice) -> String? {
        switch status {
        case 400 where !pool.endpoint.isSecure && Self.wantsTLS(body): "use https://"
        case 413: "the message has \(request.bytes.count) bytes, which is more than the server accepts"
        case 414: "the URL is longer than the server accepts"
        case 431:
            "the header fields are larger than the server accepts: "
                + "fields that were added, or a long name or uri"
        default: nil
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// The words with which nginx, Go's net/http and Apache refuse a request without TLS at a port for it.
    private static let wordsAboutTLS = ["to HTTPS port", "to an HTTPS server", "to an SSL-enabled server"]

    private static func wantsTLS(_ body: ByteSlice) -> Bool {
        let text = String(body[0 ..< min(body.count, 1_000)])
        return wordsAboutTLS.contains { text.contains($0) }
    }

    /// Returns the title of an HTML page, whose beginning says nothing to a person.
    private static func title(of page: String) -> String? {
        let beginning = page.drop { $0.isWhitespace }.prefix(14).lowercased()
        guard beginning.hasPrefix("<!doctype html") || beginning.hasPrefix("<html"),
            let start = page.firstRange(of: "<title>"),
            let end = page[start.upperBound...].firstRange(of: "</title>")
        else { return nil }
        return String(page[start.upperBound ..< end.lowerBound])
    }

    private func snippet(_ body: ByteSlice) -> [String] {
        if let title = Self.title(of: ClientSecrets.shortened(body, to: 2_000, pool.options.secrets)) {
            return ["body: an HTML page with the title \"\(title.cleaned(maxBytes: Self.snippetBytes))\""]
        }
        var text = ClientSecrets.shortened(body, to: Self.snippetBytes, pool.options.secrets)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text.isEmpty ? [] : ["body: \(text)"]
    }
}
