#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One connection to a server: it carries one exchange after another. Confined to the loop.
final class HTTPClientConnection: EventHandler {
    private let counted = Counted(.httpClientConnection)
    static let readBytes = 64 << 10
    static let readsPerTurn = 16

    enum Phase {
        case connecting
        /// The socket is connected, but TLS is not yet.
        case handshake
        case idle
        case head
        case body(ResponseHead, ByteSlice)
        case closed
    }

    // SAFETY: accessed only on the loop. The state of a call that needs no second read is not checked for
    // overlapping accesses at run time, which would take a tenth of its time; it is accessed only in single
    // steps, during which nothing is called that would access it too.

    let pool: HTTPClientPool
    let loop: EventLoop
    @safe @exclusivity(unchecked) var descriptor: FileDescriptor?
    @safe @exclusivity(unchecked) var registration: Registration?
    @safe @exclusivity(unchecked) var interest: Readiness = []
    @safe @exclusivity(unchecked) var phase = Phase.connecting
    var addresses: [SocketAddress] = []
    /// The end of the phase: of the opening, of the rest of a stream, of the time that it may be free.
    var timer: LoopTimer?
    /// The TLS layer between the socket and everything else, for https.
    @safe @exclusivity(unchecked) var tls: TLSStream?
    /// The request that the pool's carrier carries, if it has one.
    @safe @exclusivity(unchecked) var carried: CarriedRequest?

    @safe @exclusivity(unchecked) var exchange: HTTPClientExchange?
    @safe @exclusivity(unchecked) var outbox = ByteSlice()
    @safe @exclusivity(unchecked) var inbox = ByteBuffer()
    @safe @exclusivity(unchecked) var parser: ResponseParser
    var body: BodyDecoder
    var content = ByteBuffer()
    var events: SSEDecoder?
    var drained = 0
    /// Whether it has already carried a response, so that the server may have closed it in the meantime.
    @safe @exclusivity(unchecked) var isReused = false
    @safe @exclusivity(unchecked) var hasAnswerBytes = false
    /// Whether the receiver of the response has no room for more of it.
    @safe @exclusivity(unchecked) var isPaused = false
    /// The turn of the loop in which everything that the socket had was read.
    @safe @exclusivity(unchecked) var emptiedInTurn = -1
    /// Whether the server has stopped sending, so that reading has to find the end.
    private var endsInput = false

    init(_ pool: HTTPClientPool) {
        self.pool = pool
        loop = pool.loop
        parser = ResponseParser(limits: Self.limits(pool.options.maxMessageBytes))
        body = BodyDecoder(.none)
    }

    static func limits(_ bodyBytes: Int) -> HTTPLimits { HTTPLimits(maxBodyBytes: bodyBytes) }

    // MARK: Sending

    /// Writes a request on a free connection.
    func begin(_ exchange: HTTPClientExchange) {
        timer?.arm(at: .never)
        self.exchange = exchange
        exchange.connection = self
        outbox = exchange.credentials?.bytes ?? exchange.request.bytes
        hasAnswerBytes = false
        tls?.expectAnswer()
        phase = .head
        write()
    }

    func write() {
        if let carrier = pool.carrier { return write(to: carrier) }
        guard let fd = descriptor?.rawValue else { return }
        if let tls { return write(through: tls, fd) }
        while !outbox.isEmpty {
            do {
                let all = outbox.count
                let written = unsafe try outbox.withBytes { (bytes) throws(IOError) in
                    unsafe try Syscalls.send(fd, UnsafeRawBufferPointer(bytes))
                }
                guard let written else { return watch([.readable, .writable]) }
                exchange?.wasSent = true
                outbox = written == all ? ByteSlice() : outbox[written ..< all]
            } catch {
                guard error.errno == EPIPE || error.errno == ECONNRESET else { return lost(error.reason) }
                // A response may have arrived before the end of the request; reading finds it, or the end.
                outbox = ByteSlice()
            }
        }
        watch(.readable)
    }

    func watch(_ wanted: Readiness) {
        guard let fd = descriptor?.rawValue else { return }
        let wanted = isPaused ? wanted.subtracting(.readable) : wanted.union(.readClosed)
        if wanted == interest { return }
        interest = wanted
        do {
            if let registration {
                try loop.modify(registration, interest)
            } else {
                registration = try loop.register(fd, interest, self)
            }
        } catch {
            lost("\(error)")
        }
    }

    // MARK: Receiving

    override func ready(_ events: Readiness) {
        switch phase {
        case .connecting: return connectionProgressed()
        case .handshake: return goOnWithHandshake()
        default: break
        }
        if events.contains(.writable), !outbox.isEmpty || tls != nil { write() }
        // A broken connection is not kept paused.
        if events.contains(.hangup) { isPaused = false }
        if !events.isDisjoint(with: [.readClosed, .hangup]) { endsInput = true }
        if endsInput || events.contains(.readable) { read() }
    }

    /// Leaves the rest of the response in the socket, and thus at its sender.
    func pauseReading() {
        guard !isPaused, case .body = phase else { return }
        isPaused = true
        watch(outbox.isEmpty ? [] : .writable)
    }

    func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        watch(outbox.isEmpty ? .readable : [.readable, .writable])
        // The socket does not report data that was already decrypted.
        read()
    }

    private func read() {
        if let tls { return read(through: tls) }
        takeBlock()
        receive()
        returnBlock()
    }

    /// Reads into the block of the loop, unless the beginning of a response has arrived before.
    private func takeBlock() {
        if inbox.isEmpty, inbox.capacity == 0 { swap(&inbox, &loop.block) }
    }

    private func returnBlock() {
        guard inbox.isEmpty else { return }
        // A holder that still refers to bytes that were read keeps the block.
        inbox.removeAll(keeping: Self.readBytes)
        if loop.block.capacity == 0 { swap(&inbox, &loop.block) } else { inbox = ByteBuffer() }
    }

    private func receive() {
        for _ in 0 ..< Self.readsPerTurn {
            guard !isPaused, let fd = descriptor?.rawValue else { return }
            if inbox.isEmpty {
                inbox.removeAll(keeping: Self.readBytes)
                inbox.reserve(exactly: Self.readBytes)
            } else {
                inbox.reserve(Self.readBytes / 4)
            }
            let room = inbox.room
            let count: Int?
            do {
                var isDry = false
                let filled = unsafe try inbox.fill { (room) throws(IOError) in
                    let read = unsafe try Syscalls.receive(fd, into: UnsafeMutableRawBufferPointer(room))
                    isDry = read == nil
                    return read ?? 0
                }
                count = isDry ? nil : filled
            } catch {
                return lost(error.reason)
            }
            guard let count else {
                emptiedInTurn = loop.turns
                return
            }
            if count == 0 { return endOfInput() }
            hasAnswerBytes = true
            // A short read has emptied the socket; only the end may be left.
            let isEmptied = count < room && !endsInput
            if isEmptied { emptiedInTurn = loop.turns }
            process()
            if isEmptied { return }
        }
    }

    /// Returns whether a free connection can carry a request. Anything that its server has sent or done since
    /// the last response is checked now, because the loop may not have reported it yet. A connection that was
    /// ended is closed. Nothing is checked again in the turn in which the socket was found empty.
    func isStillOpen() -> Bool {
        if emptiedInTurn != loop.turns { read() }
        return if case .idle = phase { true } else { false }
    }

    // MARK: Ending

    /// Handles the end of the input. `isCutOff` means that the peer did not announce this end, as TLS
    /// allows it to do.
    func endOfInput(isCutOff: Bool = false) {
        if case .body(let head, let bytes) = phase {
            do {
                try body.finish()
                // RFC 9112 9.8. The part of a refusal that has arrived is explanation enough.
                if isCutOff, !onlyExplains(head) { return fail(cutOff) }
                return endBody(head, bytes, takeContent(), isComplete: false)
            } catch {
                return broken(error)
            }
        }
        lost("the server closed the connection")
    }

    /// Handles the loss of the connection.
    func lost(_ reason: String) {
        let lost = exchange
        exchange = nil
        let isUntouched = isReused && !hasAnswerBytes
        close()
        guard let lost, !lost.isOver else { return }
        // A server may close a connection that it kept open at the moment a request is sent. In that case, it
        // cannot be determined whether the server has read the request and carried it out.
        if isUntouched, !lost.isRepeated, !lost.wasSent || lost.request.isRepeatable {
            lost.isRepeated = true
            return pool.open(for: lost)
        }
        lost.fail(
            ClientError(
                .connectionClosed,
                "the connection to \(pool.endpoint.name) ended before the response to "
                    + lost.request.subject,
                details: [reason]))
    }

    func broken(_ error: HTTPError) {
        if case .head = phase, [.malformedStatusLine, .unsupportedVersion].contains(error) {
            return fail(notHTTP(error))
        }
        let limit =
            error == .bodyTooLarge ? " (\(pool.options.maxMessageBytes >> 10) KiB at most)" : ""
        fail(
            ClientError(
                error == .truncatedBody ? .connectionClosed : .protocolViolation,
                "the response from \(pool.endpoint.name) cannot be read: \(error.reason)\(limit)"))
    }

    /// Returns the error for a peer whose response does not begin as one of HTTP.
    private func notHTTP(_ error: HTTPError) -> ClientError {
        let beginning = inbox.slice(0 ..< min(inbox.count, 80))
        // An alert (RFC 8446 5.1) is how TLS refuses a request without it.
        if tls == nil, beginning.count > 1, beginning[0] == 21, beginning[1] == 3 {
            return ClientError(
                .tls, "cannot connect to \(pool.endpoint.name): the server uses TLS", hint: "use https://")
        }
        let line = beginning.array.prefix { $0 >= 0x20 && $0 < 0x7F }
        return ClientError(
            .protocolViolation, "the response from \(pool.endpoint.name) cannot be read: \(error.reason)",
            details: line.isEmpty ? [] : ["it sent: \(String(decoding: line, as: UTF8.self))"],
            hint: "is it an HTTP server, and is the port right?")
    }

    func fail(_ error: ClientError) {
        let failed = exchange
        exchange = nil
        close()
        failed?.fail(error)
    }

    func deregister() {
        if let registration { loop.deregister(registration) }
        registration = nil
        interest = []
        descriptor = nil
    }

    /// Closes the connection; its exchange, if any, fails.
    func close() {
        if case .closed = phase { return }
        phase = .closed
        timer?.cancel()
        timer = nil
        if let tls, let fd = descriptor?.rawValue { tls.close(fd) }
        cancelCarried()
        deregister()
        let left = exchange
        exchange = nil
        pool.closed(self)
        left?.fail(ClientError(.connectionClosed, "the connection to \(pool.endpoint.name) was closed"))
    }

    override func loopStopped() {
        registration = nil
        close()
    }
}
