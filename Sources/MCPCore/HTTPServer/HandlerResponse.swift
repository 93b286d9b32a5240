/// An in-flight response of an `HTTPRequestHandler`.
///
/// It is kept alive by the connection that waits for it, not by its task. When the connection ends, for
/// whatever reason, so does the task, and with it the stream that the task reads.
final class HandlerResponse: PendingResponse, @unchecked Sendable {
    private let counted = Counted(.handlerResponse)

    // SAFETY: all state is accessed only on the connection's loop, on which the task runs as well.
    private let isHead: Bool
    private var task: Task<Void, Never>?
    private var deadline: LoopTimer?
    /// Whether the body is sent in parts.
    private var hasParts = false

    init(connection: HTTPConnection, version: HTTPVersion, isHead: Bool) {
        self.isHead = isHead
        super.init(connection: connection, version: version)
    }

    deinit {
        task?.cancel()
        deadline?.cancel()
    }

    override var endsWithInput: Bool { hasParts }

    /// Calls the handler. Must be called on the loop.
    func begin(_ handler: any HTTPRequestHandler, _ request: HTTPRequest, atMost limit: Duration) {
        deadline = loop.schedule(after: limit) { [weak self] in self?.timeOut() }
        task = Task(executorPreference: loop) { [weak self] in
            let response = await handler.respond(to: request)
            switch response.body.content {
            case .bytes, .stream:
                guard let parts = self?.send(response) else { return }
                for await part in parts { guard self?.send(part) == true else { return } }
                self?.end()
            case .events(let events):
                guard self?.beginEvents(response.headers) == true else { return }
                for await event in events { guard self?.send(event) == true else { return } }
                self?.end()
            case .upgrade(let name, let take): self?.upgrade(request, to: name, take)
            }
        }
    }

    override func clientVanished() { stop() }

    override func serverStops() {
        // A body must not be cut off such that it looks complete; it may use the drain time-out.
        guard isStreaming else { return }
        end()
        stop()
    }

    private func stop() {
        isOver = true
        task?.cancel()
    }

    private func timeOut() {
        guard let connection = waiting else { return }
        stop()
        connection.respond(
            EarlyResponse(status: 504, text: "The request took too long and was cancelled; try again later"))
    }

    /// Records that the handler has responded in time; returns the connection, as long as it waits.
    private func answered() -> HTTPConnection? {
        deadline?.cancel()
        deadline = nil
        return waiting
    }

    // MARK: Plain responses

    /// Sends a response; returns the parts of its body that are still to be sent.
    private func send(_ response: HTTPResponse) -> AsyncStream<[UInt8]>? {
        guard let connection = answered() else { return nil }
        let status = (200 ... 599).contains(response.status) ? response.status : 500
        let isBodiless = status == 204 || status == 205 || status == 304
        let fields = framed(response.headers, on: connection)
        switch response.body.content {
        case .bytes(let bytes):
            ResponseWriter.writeHead(
                status: status, framing: framing(of: bytes, status),
                keepAlive: connection.keepAlive, extra: fields, to: &connection.output.out)
            if !isHead, !isBodiless { connection.output.out.append(bytes) }
        case .stream(let parts) where !isHead && !isBodiless:
            if version == .http10 { connection.keepAlive = false }
            ResponseWriter.writeHead(
                status: status, framing: version == .http11 ? .chunked : .none,
                keepAlive: connection.keepAlive, extra: fields, to: &connection.output.out)
            connection.scheduleFlush()
            hasParts = true
            connection.responseEndsWithInput()
            return parts
        case .stream, .events, .upgrade:
            // The length of a body that is sent in parts is unknown (RFC 9110, section 8.6).
            ResponseWriter.writeHead(
                status: status, framing: status == 205 ? .length(0) : .none, keepAlive: connection.keepAlive,
                extra: fields,
                to: &connection.output.out)
        }
        isOver = true
        connection.becomeIdle()
        connection.scheduleFlush()
        return nil
    }

    private func framing(of bytes: [UInt8], _ status: Int) -> ResponseWriter.Framing {
        switch status {
        case 204, 304: .none
        // The status alone does not imply that there is no body (RFC 9110, section 15.3.6).
        case 205: .length(0)
        default: .length(bytes.count)
        }
    }

    /// Returns the handler's fields without those that frame the message, which the connection sets.
    private func framed(_ headers: HeaderFields, on connection: HTTPConnection) -> HeaderFields {
        var fields = headers
        let options = fields.values(of: "Connection")
        if options.contains(where: { ASCII.equalsIgnoringCase($0.utf8, "close".utf8) }) {
            connection.keepAlive = false
        }
        for name in ["Content-Length", "Transfer-Encoding", "Connection"] { fields.removeAll(name) }
        // RFC 9110, section 7.8: both or neither.
        if fields["Upgrade"] != nil { fields.append(sanitizing: "Connection", "Upgrade") }
        return fields
    }

    private func send(_ part: [UInt8]) -> Bool {
        guard let connection = waiting else { return false }
        chunk(on: connection) { $0.append(part) }
        connection.limitOutput()
        connection.scheduleFlush()
        return !isOver
    }

    // MARK: Events

    private func beginEvents(_ headers: HeaderFields) -> Bool {
        guard let connection = answered() else { return false }
        if isHead {
            isOver = true
            ResponseWriter.writeHead(
                status: 200, contentType: "text/event-stream", framing: .none,
                keepAlive: connection.keepAlive, to: &connection.output.out)
            connection.becomeIdle()
            connection.scheduleFlush()
            return false
        }
        hasParts = true
        connection.responseEndsWithInput()
        guard !isOver else { return false }
        var more = framed(headers, on: connection)
        for field in HTTPResponse.eventStreamHeaders { more.removeAll(field.name) }
        writeStreamHead(on: connection, more: more)
        connection.scheduleFlush()
        if connection.isStopping { serverStops() }
        return !isOver
    }

    private func send(_ event: SSEEvent) -> Bool {
        guard let connection = waiting else { return false }
        write(event, on: connection)
        connection.scheduleFlush()
        return !isOver
    }

    private func end() {
        guard let connection = waiting else { return }
        isOver = true
        endResponse(on: connection)
        connection.scheduleFlush()
    }

    // MARK: Upgrades

    private func upgrade(
        _ request: HTTPRequest, to name: String,
        _ take: @escaping @Sendable (consuming UpgradedSocket) -> Void
    ) {
        guard let connection = answered() else { return }
        isOver = true
        var fields = HeaderFields()
        fields.append(sanitizing: "Connection", "Upgrade")
        fields.append(sanitizing: "Upgrade", name)
        guard request.asksToUpgrade(to: name) else {
            return connection.respond(
                EarlyResponse(
                    status: 426, text: "Send Connection: Upgrade and Upgrade: \(name)", fields: fields))
        }
        do {
            connection.upgrade(
                fields, PendingUpgrade(try connection.duplicateDescriptor(), take: take))
        } catch {
            connection.respond(
                EarlyResponse(
                    status: 503, text: "No file descriptor is free for the upgrade; try again later",
                    fields: .retryAfter)
            )
        }
    }
}
