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
    private static let readBytes = 64 << 10
    static let readsPerTurn = 16
    /// The limits in time and size for reading the rest of an event stream after its response, in order to
    /// reuse the connection.
    private static let drainTimeout = Duration.seconds(1)
    private static let drainBytes = 64 << 10
    /// The size up to which the body of a refusal is read; it only explains.
    private static let refusalBytes = 1 << 20

    enum Phase {
        case connecting
        /// The socket is connected, but TLS is not yet.
        case handshake
        case idle
        case head
        case body(ResponseHead, ByteSlice)
        case closed
    }

    /// The step that a connection waits for until it is open.
    enum Opening: UInt8, Sendable {
        case address = 1
        case socket, handshake

        /// Returns the error for a step that did not finish within `limit`.
        func timedOut(_ limit: Duration) -> TLSError {
            let text =
                switch self {
                case .address: "its address was not found within \(limit.inWords)"
                case .socket: "no answer within \(limit.inWords)"
                case .handshake: "the server did not finish the TLS handshake within \(limit.inWords)"
                }
            return TLSError(.connection, text, hint: "is the server running, and is the address right?")
        }
    }

    // SAFETY: accessed only on the loop. The state of a call that needs no second read is not checked for
    // overlapping accesses at run time, which would take a tenth of its time; it is accessed only in single
    // steps, during which nothing is called that would access it too.

    let pool: HTTPClientPool
    let loop: EventLoop
    @safe @exclusivity(unchecked) var descriptor: FileDescriptor?
    @safe @exclusivity(unchecked) private var registration: Registration?
    @safe @exclusivity(unchecked) private var interest: Readiness = []
    @safe @exclusivity(unchecked) var phase = Phase.connecting
    private var addresses: [SocketAddress] = []
    /// The end of the phase: of the opening, of the rest of a stream, of the time that it may be free.
    private var timer: LoopTimer?
    /// The TLS layer between the socket and everything else, for https.
    @safe @exclusivity(unchecked) var tls: TLSStream?
    /// The request that the pool's carrier carries, if it has one.
    @safe @exclusivity(unchecked) var carried: CarriedRequest?

    @safe @exclusivity(unchecked) var exchange: HTTPClientExchange?
    @safe @exclusivity(unchecked) var outbox = ByteSlice()
    @safe @exclusivity(unchecked) var inbox = ByteBuffer()
    @safe @exclusivity(unchecked) private var parser: ResponseParser
    var body: BodyDecoder
    private var content = ByteBuffer()
    private var events: SSEDecoder?
    private var drained = 0
    /// Whether it has already carried a response, so that the server may have closed it in the meantime.
    @safe @exclusivity(unchecked) private var isReused = false
    @safe @exclusivity(unchecked) var hasAnswerBytes = false
    /// Whether the receiver of the response has no room for more of it.
    @safe @exclusivity(unchecked) private(set) var isPaused = false
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

    private static func limits(_ bodyBytes: Int) -> HTTPLimits { HTTPLimits(maxBodyBytes: bodyBytes) }

    // MARK: Opening

    func open(for exchange: HTTPClientExchange) {
        if pool.carrier != nil {
            timer = loop.makeTimer { self.timeOut() }
            return begin(exchange)
        }
        self.exchange = exchange
        exchange.connection = self
        pool.session.opening = .address
        // The timer releases the connection when it is cancelled, which `close` does.
        timer = loop.makeTimer { self.timeOut() }
        timer?.arm(at: loop.clock.now + exchange.request.connectTimeout)
        pool.resolve { [self] result in
            guard case .connecting = phase else { return }
            switch result {
            case .success(let found):
                pool.session.opening = .socket
                addresses = found.reversed()
                connectNext(nil)
            case .failure(let error): refuse(error)
            }
        }
    }

    private func timeOut() {
        switch phase {
        case .connecting, .handshake:
            guard let exchange else { return close() }
            refuse((pool.session.opening ?? .socket).timedOut(exchange.request.connectTimeout))
        case .head: break
        case .idle, .body, .closed: close()
        }
    }

    private func connectNext(_ problem: IOError?) {
        guard let address = addresses.popLast() else {
            return refuse(.unreachable(problem?.reason ?? "it has no address"), errno: problem?.errno)
        }
        deregister()
        do {
            let socket = try Syscalls.streamSocket(address.domain)
            let fd = socket.rawValue
            descriptor = consume socket
            // Without this, small requests are slower, but nothing worse happens.
            if address.family != .unix { try? Syscalls.setNoDelay(fd) }
            if try Syscalls.connect(fd, to: address) {
                connected()
            } else {
                registration = try loop.register(fd, .writable, self)
                interest = .writable
            }
        } catch {
            connectNext(error)
        }
    }

    private func connectionProgressed() {
        guard let fd = descriptor?.rawValue else { return }
        let problem: IOError?
        do { problem = try Syscalls.connectionError(fd) } catch { problem = error }
        if let problem { connectNext(problem) } else { connected() }
    }

    private func connected() {
        guard let exchange, !exchange.isOver else { return close() }
        pool.session.opening = pool.endpoint.tlsHost == nil ? nil : .handshake
        if let host = pool.endpoint.tlsHost { return beginHandshake(host) }
        self.exchange = nil
        begin(exchange)
    }

    func refuse(_ error: TLSError, errno: Int32? = nil) {
        let refused = exchange
        exchange = nil
        close()
        var failure = ClientError(error, pool.endpoint.name)
        failure.connectErrno = errno.flatMap { UInt8(exactly: $0) } ?? 0
        refused?.fail(failure)
    }

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

    func process() {
        while true {
            switch phase {
            case .connecting, .handshake, .closed: return
            case .idle:
                // No request was sent, so whatever arrives cannot be a response.
                if !inbox.isEmpty { close() }
                return
            case .head:
                switch unsafe inbox.withBytes({ unsafe parser.parse($0) }) {
                case .needMore: return
                case .failed(let error): return broken(error)
                case .head(let head): receiveHead(head)
                }
            case .body(let head, let bytes):
                if inbox.isEmpty, !body.isDone { return }
                guard receiveBody(head, bytes) else { return }
            }
        }
    }

    private func receiveHead(_ head: ResponseHead) {
        var bytes = inbox.slice(0 ..< head.byteCount)
        inbox.consume(head.byteCount)
        do {
            try exchange?.receiveHead(head, bytes)
        } catch {
            return fail(error)
        }
        let isWhole = exchange?.request.response != nil && exchange?.request.stream == nil
        let isStream =
            !isWhole && (200 ..< 300).contains(head.status)
            && head.value(.contentType, in: bytes).map(MediaType.isEventStream) == true
        events =
            isStream
            ? SSEDecoder(
                maxEventBytes: pool.options.maxEventBytes,
                lastEventID: exchange?.position.lastEventID ?? "") : nil
        if isStream { exchange?.streamBegan(head, bytes) }
        if events == nil, case .length(let count) = head.body, count <= inbox.count {
            // The usual response is here as a whole. Its body is copied, because the caller may keep it.
            let content = inbox.slice(0 ..< count).copy()
            inbox.consume(count)
            return endBody(head, bytes, content)
        }
        // Copied, because the block is written to while the body arrives.
        bytes = bytes.copy()
        let maximum =
            isStream ? Int.max : onlyExplains(head) ? Self.refusalBytes : pool.options.maxMessageBytes
        body = BodyDecoder(head.body, limits: Self.limits(maximum))
        content.removeAll(keeping: Self.readBytes)
        phase = .body(head, bytes)
    }

    /// Processes the part of the body that has arrived; returns false when there is nothing
    /// more to do for now.
    private func receiveBody(_ head: ResponseHead, _ bytes: ByteSlice) -> Bool {
        let outcome = unsafe inbox.withBytes { unsafe body.decode($0, into: &content) }
        switch outcome {
        case .needMore: inbox.consume(inbox.count)
        case .done(let consumed): inbox.consume(consumed)
        case .failed(let error):
            // A refusal with a body that is too long to read has already been understood.
            if onlyExplains(head), error == .bodyTooLarge {
                endBody(head, bytes, takeContent(), isComplete: false)
            } else {
                broken(error)
            }
            return false
        }
        if events != nil, !receiveEvents() { return false }
        guard body.isDone else { return false }
        endBody(head, bytes, takeContent())
        return true
    }

    /// Whether the body of a response only explains its status, so that a part of it is enough.
    private func onlyExplains(_ head: ResponseHead) -> Bool {
        head.status >= 400 && exchange?.request.response == nil
    }

    private func takeContent() -> ByteSlice {
        let whole = content.slice(0 ..< content.count)
        content = ByteBuffer()
        return whole
    }

    /// Passes on the complete events; returns false when the stream cannot be read further.
    private func receiveEvents() -> Bool {
        if exchange == nil {
            drained += content.count
            content.removeAll(keeping: Self.readBytes)
            if drained > Self.drainBytes { close() }
            return drained <= Self.drainBytes
        }
        var found: [SSEEvent] = []
        do {
            try unsafe content.withBytes { (bytes) throws(HTTPError) in
                try unsafe events?.decode(bytes, into: &found)
            }
        } catch {
            broken(error)
            return false
        }
        content.removeAll(keeping: Self.readBytes)
        for event in found {
            guard let exchange else { break }
            exchange.receive(event)
            if exchange.isOver { finishEarly() }
        }
        if let id = events?.lastEventID {
            exchange?.reach(id, retryMilliseconds: events?.retryMilliseconds)
        }
        if case .closed = phase { return false }
        return true
    }

    /// Detaches the exchange after its response has arrived; the rest of the stream is read for a short time,
    /// so that the connection stays usable.
    private func finishEarly() {
        exchange?.connection = nil
        exchange = nil
        drained = 0
        timer?.arm(at: loop.clock.now + Self.drainTimeout)
    }

    func endBody(_ head: ResponseHead, _ bytes: ByteSlice, _ whole: ByteSlice, isComplete: Bool = true) {
        isPaused = false
        let ended = exchange
        exchange = nil
        ended?.connection = nil
        let isStream = events != nil
        if isStream { events = nil }
        release(head, bytes, isComplete: isComplete)
        if isStream { ended?.endOfEvents() } else { ended?.receiveEnd(head, bytes, body: whole) }
    }

    private func release(_ head: ResponseHead, _ bytes: ByteSlice, isComplete: Bool) {
        let idleTime = KeepAliveHint.idleTime(head, in: bytes)
        guard isComplete, head.keepAlive, idleTime > .zero, inbox.isEmpty, outbox.isEmpty else {
            return close()
        }
        isReused = true
        phase = .idle
        timer?.arm(after: idleTime)
        pool.released(self)
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
                "the connection to \(pool.endpoint.name) ended before the response to \(lost.request.method)",
                details: [reason]))
    }

    private func broken(_ error: HTTPError) {
        let limit =
            error == .bodyTooLarge ? " (\(pool.options.maxMessageBytes >> 10) KiB at most)" : ""
        fail(
            ClientError(
                error == .truncatedBody ? .connectionClosed : .protocolViolation,
                "the response from \(pool.endpoint.name) cannot be read: \(error.reason)\(limit)"))
    }

    func fail(_ error: ClientError) {
        let failed = exchange
        exchange = nil
        close()
        failed?.fail(error)
    }

    private func deregister() {
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
