import Dispatch

/// A connection that carries one request of `HTTPFetcher`. Confined to its loop.
final class FetchConnection: EventHandler {
    private let counted = Counted(.httpClientConnection)
    private static let readBytes = 16 << 10

    typealias Outcome = Result<OAuthHTTPResponse, AuthorizationError>

    private enum Phase { case connecting, handshake, head, body(ResponseHead, ByteSlice), closed }

    private let url: WebURL
    private let rule: AddressRule
    private let provider: any TLSProvider
    private let loop: EventLoop
    private let deadline: MonotonicInstant
    private let resolver: HTTPFetcher.Resolver
    private let end: (Outcome) -> Void

    private var phase = Phase.connecting
    private var addresses: [SocketAddress] = []
    private var descriptor: FileDescriptor?
    private var registration: Registration?
    private var timer: LoopTimer?
    private var connectTimer: LoopTimer?
    private var tls: TLSStream?
    private var outbox: ByteSlice
    private var inbox = ByteBuffer()
    private var parser = ResponseParser(limits: FetchConnection.limits)
    private var body = BodyDecoder(.none)
    private var content = ByteBuffer()

    private static var limits: HTTPLimits { HTTPLimits(maxBodyBytes: HTTPFetcher.maxBodyBytes) }

    init(
        _ url: WebURL, _ bytes: ByteSlice, rule: AddressRule, tls: any TLSProvider, loop: EventLoop,
        deadline: MonotonicInstant, resolver: @escaping HTTPFetcher.Resolver, end: @escaping (Outcome) -> Void
    ) {
        self.url = url
        self.rule = rule
        provider = tls
        self.loop = loop
        self.deadline = deadline
        self.resolver = resolver
        self.end = end
        outbox = bytes
    }

    // MARK: Opening

    func start() {
        guard case .connecting = phase else { return }
        let (host, port) = (url.host, url.port)
        timer = loop.makeTimer { [weak self] in
            self?.fail(.unreachable, "\(host) did not answer within \(HTTPFetcher.timeout.inWords)")
        }
        timer?.arm(at: deadline)
        connectTimer = loop.schedule(after: HTTPFetcher.connectTimeout) { [weak self] in
            self?.fail(.unreachable, "no connection to \(host) within \(HTTPFetcher.connectTimeout.inWords)")
        }
        let (resolver, loop) = (resolver, loop)
        let answer = LoopBound(self, loop: loop)
        DispatchQueue.global().async {
            let found = Result { () throws(SocketAddress.ResolveError) in try resolver(host, port) }
            loop.execute { answer.value.resolved(found) }
        }
    }

    private func resolved(_ found: Result<[SocketAddress], SocketAddress.ResolveError>) {
        guard case .connecting = phase else { return }
        switch found {
        case .failure(let error): fail(.unreachable, "\(error)")
        case .success(let found):
            let refused = found.compactMap { rule.refusal(of: $0, host: url.host, isSecure: url.isSecure) }
            let allowed = found.filter {
                rule.refusal(of: $0, host: url.host, isSecure: url.isSecure) == nil
            }
            if allowed.isEmpty, let reason = refused.first {
                return fail(
                    .unreachable, "\(url.host) is not reached for authorization: \(reason)",
                    hint: "MCP_AUTH_ALLOW=\(url.host) allows it")
            }
            addresses = allowed.reversed()
            connectNext("it has no address")
        }
    }

    private func connectNext(_ lastReason: String) {
        guard let address = addresses.popLast() else {
            return fail(.unreachable, "cannot connect to \(url.origin): \(lastReason)")
        }
        deregister()
        do {
            let socket = try Syscalls.streamSocket(address.domain)
            let fd = socket.rawValue
            descriptor = consume socket
            if try Syscalls.connect(fd, to: address) {
                connected()
            } else {
                registration = try loop.register(fd, .writable, self)
            }
        } catch {
            connectNext(error.reason)
        }
    }

    private func connectionProgressed() {
        guard let fd = descriptor?.rawValue else { return }
        let problem: IOError?
        do { problem = try Syscalls.connectionError(fd) } catch { problem = error }
        if let problem { connectNext(problem.reason) } else { connected() }
    }

    private func connected() {
        guard url.isSecure else { return begin() }
        do {
            tls = TLSStream(try provider.filter(for: url.host))
            phase = .handshake
            try goOnWithHandshake()
        } catch {
            lost(error)
        }
    }

    private func goOnWithHandshake() throws(TLSError) {
        guard let tls, let fd = descriptor?.rawValue else { return }
        guard try tls.handshake(fd) else { return watch(tls.hasOutput ? [.readable, .writable] : .readable) }
        begin()
    }

    private func begin() {
        connectTimer?.cancel()
        connectTimer = nil
        phase = .head
        goOn()
    }

    // MARK: Sending and receiving

    override func ready(_ events: Readiness) {
        switch phase {
        case .connecting: connectionProgressed()
        case .handshake:
            do throws(TLSError) { try goOnWithHandshake() } catch { lost(error) }
        case .head, .body: goOn()
        case .closed: break
        }
    }

    private func goOn() {
        do throws(TLSError) {
            try write()
            try read()
        } catch {
            lost(error)
        }
    }

    private func write() throws(TLSError) {
        guard let fd = descriptor?.rawValue else { return }
        while !outbox.isEmpty {
            let sent: Int?
            if let tls {
                sent = try tls.send(outbox, fd)
            } else {
                do throws(IOError) {
                    sent = unsafe try outbox.withBytes { (bytes) throws(IOError) in
                        unsafe try Syscalls.send(fd, UnsafeRawBufferPointer(bytes))
                    }
                } catch {
                    throw TLSError(.connection, error.reason)
                }
            }
            guard let sent else { break }
            outbox = outbox[sent ..< outbox.count]
        }
        if let tls { try tls.flush(fd) }
        watch(outbox.isEmpty && tls?.hasOutput != true ? .readable : [.readable, .writable])
    }

    private func read() throws(TLSError) {
        while let fd = descriptor?.rawValue {
            inbox.reserve(Self.readBytes)
            guard let count = try tls == nil ? readPlain(fd) : readEncrypted(fd) else { return }
            if count == 0 { return endOfInput() }
            process()
        }
    }

    /// Returns nil when there is nothing now, and 0 at the end.
    private func readPlain(_ fd: Int32) throws(TLSError) -> Int? {
        var isDry = false
        do throws(IOError) {
            let count = unsafe try inbox.fill { (room) throws(IOError) in
                let read = unsafe try Syscalls.receive(fd, into: UnsafeMutableRawBufferPointer(room))
                isDry = read == nil
                return read ?? 0
            }
            return isDry ? nil : count
        } catch {
            throw TLSError(.connection, error.reason)
        }
    }

    private func readEncrypted(_ fd: Int32) throws(TLSError) -> Int? {
        guard let tls else { return nil }
        while true {
            var mustWait = false
            let count = unsafe try inbox.fill { (room) throws(TLSError) in
                let count = unsafe try tls.receive(into: room)
                mustWait = count == nil
                return count ?? 0
            }
            if !mustWait { return count }
            switch try tls.pull(fd) {
            case .some: continue
            case .dry: return nil
            case .ended: throw TLSError(.connection, "the response may be cut off")
            }
        }
    }

    private func watch(_ interest: Readiness) {
        guard let fd = descriptor?.rawValue else { return }
        do throws(IOError) {
            if let registration {
                try loop.modify(registration, interest)
            } else {
                registration = try loop.register(fd, interest, self)
            }
        } catch {
            fail(.unreachable, "the connection to \(url.host) failed: \(error.reason)")
        }
    }

    // MARK: The response

    private func process() {
        if case .head = phase {
            switch unsafe inbox.withBytes({ unsafe parser.parse($0) }) {
            case .needMore: return
            case .failed(let error): return broken(error)
            case .head(let head):
                let bytes = inbox.slice(0 ..< head.byteCount).copy()
                inbox.consume(head.byteCount)
                body = BodyDecoder(head.body, limits: Self.limits)
                phase = .body(head, bytes)
            }
        }
        guard case .body(let head, let bytes) = phase else { return }
        switch unsafe inbox.withBytes({ unsafe body.decode($0, into: &content) }) {
        case .failed(let error): return broken(error)
        case .needMore: inbox.consume(inbox.count)
        case .done(let consumed): inbox.consume(consumed)
        }
        if body.isDone { finish(head, bytes) }
    }

    private func endOfInput() {
        guard case .body(let head, let bytes) = phase else {
            return fail(.unreachable, "\(url.host) closed the connection before its response")
        }
        do throws(HTTPError) {
            try body.finish()
            finish(head, bytes)
        } catch {
            broken(error)
        }
    }

    private func finish(_ head: ResponseHead, _ bytes: ByteSlice) {
        if let coding = head.value(.contentEncoding, in: bytes),
            !ASCII.equalsIgnoringCase(coding, "identity".utf8)
        {
            return fail(.malformed, "\(url.host) compressed its response, which was not asked for")
        }
        var fields = HeaderFields()
        head.forEachField(in: bytes) { name, value in
            // The parser has checked both; bytes that are not UTF-8 make a field that is not used.
            try? fields.append(String(name), String(value))
        }
        let content = content.slice(0 ..< content.count).array
        close(with: .success(OAuthHTTPResponse(status: head.status, fields: fields, body: content)))
    }

    // MARK: Ending

    private func broken(_ error: HTTPError) {
        let limit = error == .bodyTooLarge ? " (\(HTTPFetcher.maxBodyBytes >> 10) KiB at most)" : ""
        fail(.malformed, "the response from \(url.host) cannot be read: \(error.reason)\(limit)")
    }

    private func lost(_ error: TLSError) {
        close(
            with: .failure(
                AuthorizationError(
                    .unreachable, "cannot connect to \(url.origin): \(error.message)", details: error.details,
                    hint: error.hint)))
    }

    private func fail(_ kind: AuthorizationError.Kind, _ message: String, hint: String? = nil) {
        close(with: .failure(AuthorizationError(kind, message, hint: hint)))
    }

    private func close(with outcome: Outcome) {
        if case .closed = phase { return }
        close()
        end(outcome)
    }

    /// Closes the connection without a response.
    func close() {
        if case .closed = phase { return }
        phase = .closed
        timer?.cancel()
        connectTimer?.cancel()
        (timer, connectTimer) = (nil, nil)
        if let tls, let fd = descriptor?.rawValue { tls.close(fd) }
        deregister()
    }

    private func deregister() {
        if let registration { loop.deregister(registration) }
        registration = nil
        descriptor = nil
    }

    override func loopStopped() {
        registration = nil
        fail(.unreachable, "the connection to \(url.host) was closed")
    }
}
