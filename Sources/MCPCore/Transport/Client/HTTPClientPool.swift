import Dispatch

/// The connections to one endpoint, on their loop: a free connection is reused, a busy one is never shared.
final class HTTPClientPool {
    private let counted = Counted(.clientPool)

    /// The maximum number of connections at the same time; further requests wait. Notifications do not wait:
    /// one may release what the requests wait for. Event streams that are opened by GET do not wait either.
    static let maxConnections = 64
    /// The maximum number of free connections that are kept: those of all requests at the same time, so that
    /// none of them has to connect again. The one used last is used next, and the others are closed when they
    /// have been free for `KeepAliveHint.idleTimeout`.
    static let maxIdle = maxConnections

    let endpoint: HTTPEndpoint
    let loop: EventLoop
    let options: ClientOptions
    let session: HTTPClientSession
    let fields: HTTPClientFields
    /// The provider of the encryption for connections to an https endpoint.
    let tls: any TLSProvider
    /// The HTTP stack that carries the requests, if not this library's own.
    let carrier: (any HTTPCarrier)?
    /// The source of credentials; nil also for a place to which they must not be sent.
    let authorizer: (any RequestAuthorizer)?
    /// The greatest number of credentials that a request had.
    var newestGeneration = 0
    weak var inbox: (any ClientInbox)?

    private let addresses: AddressLookup
    private var connections: [ObjectIdentifier: HTTPClientConnection] = [:]
    private var idle: [HTTPClientConnection] = []
    private var exchanges: [Int64: HTTPClientExchange] = [:]
    /// The exchanges that wait for a connection, in order of arrival; as many as there are calls.
    private var waiting = BoundedTable<ObjectIdentifier, HTTPClientExchange>(
        capacity: .max, policy: .evictOldest)
    /// The exchanges that wait for credentials; as many as there are calls.
    private var unauthorized: [ObjectIdentifier: HTTPClientExchange] = [:]
    /// Those of them that belong to calls, by the id of the call.
    private var unauthorizedCalls: [Int64: HTTPClientExchange] = [:]
    /// The streams for the rests of responses whose streams ended too early, by the id of the request.
    private var streams: [Int64: HTTPClientStream] = [:]
    private var serverStream: HTTPClientStream?
    /// What is known about the streams of all sessions.
    var serverStreams = HTTPServerStreams()
    private(set) var isClosed = false

    /// Creates a pool without connections, on `loop` or on one of the clients' own loops.
    ///
    /// - Throws: `ClientError` when a header field cannot be sent, or TLS or a loop is not available.
    init(
        _ endpoint: HTTPEndpoint, options: ClientOptions, session: HTTPClientSession = HTTPClientSession(),
        loop: EventLoop? = nil, tls: any TLSProvider = OpenSSLProvider.system,
        carrier: (any HTTPCarrier)? = nil, addresses: AddressLookup = AddressLookup()
    ) throws(ClientError) {
        self.addresses = addresses
        fields = try HTTPClientFields(options)
        self.carrier = carrier
        if endpoint.isSecure, carrier == nil {
            do { try tls.prepare() } catch { throw ClientError(error, endpoint.name) }
        }
        do {
            self.loop = try loop ?? SharedLoops.next()
        } catch {
            throw ClientError(.cannotConnect, "cannot create an event loop: \(error)")
        }
        SignalWatch.ignoreBrokenPipes()
        self.endpoint = endpoint
        self.options = options
        self.session = session
        self.tls = tls
        authorizer = endpoint.isConfidential ? options.authorizer : nil
    }

    /// Sends a request on a free connection, or on a new one. The event stream that answers a GET goes to
    /// `listener`.
    @discardableResult
    func send(
        _ request: HTTPClientRequest, to listener: (any HTTPStreamListener)? = nil,
        behind position: HTTPStreamPosition = HTTPStreamPosition()
    ) -> HTTPClientExchange {
        let exchange = HTTPClientExchange(request, self, to: listener, behind: position)
        guard !isClosed else {
            exchange.fail(ClientError(.connectionClosed, "the client was closed"))
            return exchange
        }
        if let id = request.id { exchanges[id] = exchange }
        if let authorizer { exchange.authorize(by: authorizer) } else { run(exchange) }
        return exchange
    }

    func run(_ exchange: HTTPClientExchange) {
        if let connection = freeConnection() {
            session.opening = nil
            connection.begin(exchange)
        } else if exchange.request.id != nil, connections.count >= Self.maxConnections {
            waiting.insert(exchange, for: ObjectIdentifier(exchange))
        } else {
            open(for: exchange)
        }
    }

    /// Returns a kept connection that its server has not ended in the meantime. The check prevents the loss
    /// of calls that cannot be sent twice; it costs a system call, except in the turn of the response before.
    private func freeConnection() -> HTTPClientConnection? {
        while let connection = idle.popLast() {
            if connection.isStillOpen() { return connection }
        }
        return nil
    }

    /// Opens a new connection for the exchange, which waits for it in the meantime.
    func open(for exchange: HTTPClientExchange) {
        let connection = HTTPClientConnection(self)
        connections[ObjectIdentifier(connection)] = connection
        connection.open(for: exchange)
    }

    /// Abandons a request that no caller waits for any more: its connection is closed, which a modern server
    /// treats as a cancellation.
    func abandon(_ id: Int64) {
        if authorizer != nil { unauthorizedCalls[id]?.drop() }
        exchanges[id]?.drop()
        streams[id]?.stop()
    }

    /// Keeps an exchange that waits for credentials, or ends that wait.
    func keep(_ exchange: HTTPClientExchange, unauthorized isWaiting: Bool) {
        unauthorized[ObjectIdentifier(exchange)] = isWaiting ? exchange : nil
        if let id = exchange.request.callID { unauthorizedCalls[id] = isWaiting ? exchange : nil }
    }

    /// Returns whether a request is not with the server: it was not sent yet, or was refused.
    func awaitsCredentials(_ id: Int64) -> Bool { unauthorizedCalls[id] != nil }

    func ended(_ exchange: HTTPClientExchange) {
        if let id = exchange.request.id { exchanges[id] = nil }
        if !waiting.isEmpty { waiting.remove(ObjectIdentifier(exchange)) }
    }

    /// Gives a connection that has become free its next request, or keeps it.
    func released(_ connection: HTTPClientConnection) {
        if isClosed { return connection.close() }
        if !waiting.isEmpty {
            // A connection that its server has already ended is closed, which makes room for a new one.
            if connection.isStillOpen(), let next = waiting.removeOldest() { connection.begin(next.value) }
            return
        }
        if idle.count >= Self.maxIdle { return connection.close() }
        idle.append(connection)
    }

    func closed(_ connection: HTTPClientConnection) {
        connections[ObjectIdentifier(connection)] = nil
        idle.removeAll { $0 === connection }
        if !isClosed, connections.count < Self.maxConnections, let next = waiting.removeOldest() {
            open(for: next.value)
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        serverStream?.stop()
        // The stream keeps the pool alive.
        serverStream = nil
        for stream in streams.values { stream.stop() }
        for (_, exchange) in waiting {
            exchange.fail(ClientError(.connectionClosed, "the client was closed"))
        }
        for exchange in Array(unauthorized.values) {
            exchange.fail(ClientError(.connectionClosed, "the client was closed"))
        }
        for connection in connections.values { connection.close() }
    }

    // MARK: Event streams

    /// Opens the stream of the session, unless there already is one or none was available (LEG-12).
    func openServerStream() {
        // With HTTP+SSE, the stream is open from the beginning; after its end, a new session has another one.
        guard !isClosed, session.announcedTarget == nil, !session.isLost else { return }
        guard let id = session.current.id else {
            let error = ClientError(
                .httpStatus,
                "\(endpoint.name) is sessionless and offers no server-to-client stream")
            return inbox?.serverStreamRefused(error) ?? ()
        }
        if let serverStream, serverStream.number == session.number {
            if let refusal = serverStream.refusal { return inbox?.serverStreamRefused(refusal) ?? () }
            // One that has ended brings nothing.
            if !serverStream.isOver { return }
        }
        serverStream?.stop()
        let stream = HTTPClientStream(session: id, pool: self)
        serverStream = stream
        stream.open()
    }

    func whenServerStreamIsSettled(_ then: @escaping () -> Void) {
        guard session.announcedTarget == nil, let serverStream else { return then() }
        serverStream.whenSettled(then)
    }

    func reportLoss(within limit: Duration) {
        guard session.announcedTarget == nil, let serverStream else {
            return inbox?.messagesMayBeLost() ?? ()
        }
        serverStream.reportLoss(within: limit)
    }

    /// Resumes the stream of a response that ended before the response arrived.
    func resume(
        _ request: HTTPClientRequest, _ id: Int64, behind position: HTTPStreamPosition, _ error: ClientError
    ) {
        // `initialize` itself names no session, but its response may have opened one.
        let session = request.session ?? (request.method == "initialize" ? session.current.id : nil)
        let stream = HTTPClientStream(request, id, session: session, behind: position, pool: self)
        streams[id] = stream
        stream.openLater(error)
    }

    /// Switches to HTTP+SSE (DUAL-17); reports whether the server supports it.
    func openChannel(
        within timeout: Duration, isRequired: Bool, _ opened: @escaping (Result<Bool, ClientError>) -> Void
    ) {
        guard !isClosed, session.announcedTarget == nil else { return opened(.success(false)) }
        HTTPSSEChannel(self, isRequired: isRequired, opened: opened).open(within: timeout)
    }

    func streamEnded(_ id: Int64) { streams[id] = nil }

    func streamRequest(
        session: String?, lastEventID: String, connectTimeout: Duration
    ) throws(HeaderFields.InvalidField) -> HTTPClientRequest {
        var buffer = ByteBuffer()
        try RequestWriter.writeHead(
            method: "GET", target: endpoint.target, host: endpoint.hostField,
            fields: try fields.stream(session, self.session.current.revision, lastEventID: lastEventID),
            contentLength: nil, to: &buffer)
        let bytes = buffer.freeze()
        if authorizer == nil, let trace = options.trace { trace(.httpRequest(head: fields.masked(bytes))) }
        return HTTPClientRequest(
            method: "GET", bytes: bytes, session: session, connectTimeout: connectTimeout,
            isRepeatable: true, mustBeTaken: true)
    }

    // MARK: Addresses

    /// Finds the endpoint's addresses; a name is looked up on another thread, because that may take seconds.
    func resolve(_ then: @escaping (Result<[SocketAddress], TLSError>) -> Void) {
        switch endpoint.place {
        case .unix(let address): then(.success([address]))
        case .host(let host, let port):
            let addresses = addresses
            if host.lowercased() == "localhost" {
                // RFC 6761 6.3: always this machine, so that no resolver is needed.
                let found = ["127.0.0.1", "::1"].compactMap { SocketAddress(numeric: $0, port: port) }
                return then(Result { () throws(TLSError) in try addresses.admit(found) })
            }
            if let address = SocketAddress(numeric: host, port: port) {
                return then(Result { () throws(TLSError) in try addresses.admit([address]) })
            }
            let answer = LoopBound(then, loop: loop)
            let loop = loop
            DispatchQueue.global().async {
                let result = Result { () throws(TLSError) in
                    let found: [SocketAddress]
                    do throws(SocketAddress.ResolveError) { found = try addresses.find(host, port) } catch {
                        throw TLSError.unreachable("\(error)", hint: "is the name of the host right?")
                    }
                    return try addresses.admit(found)
                }
                loop.execute { answer.value(result) }
            }
        }
    }
}

/// The addresses of a host, and which of them may be connected to.
struct AddressLookup: Sendable {
    typealias Resolver = @Sendable (String, UInt16) throws(SocketAddress.ResolveError) -> [SocketAddress]

    /// Looks up a name; it may block.
    var find: Resolver = { (host, port) throws(SocketAddress.ResolveError) in
        try SocketAddress.resolve(host: host, port: port)
    }
    /// Returns the addresses that may be connected to; throws if there are some, but none of these.
    var admit: @Sendable ([SocketAddress]) throws(TLSError) -> [SocketAddress] = { $0 }
}

extension TLSError {
    /// The error for a server that no connection can be made to; `reason` may begin with a capital letter.
    static func unreachable(
        _ reason: String, hint: String = "is the server running, and is the address right?"
    ) -> TLSError {
        TLSError(.connection, reason.prefix(1).lowercased() + reason.dropFirst(), hint: hint)
    }
}
