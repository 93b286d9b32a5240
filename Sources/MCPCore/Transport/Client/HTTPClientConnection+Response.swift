/// Reading a response: its head, its body or events, and whether the connection can be reused afterwards.
extension HTTPClientConnection {
    /// The limits in time and size for reading the rest of an event stream after its response, in order to
    /// reuse the connection.
    private static let drainTimeout = Duration.seconds(1)
    private static let drainBytes = 64 << 10
    /// The size up to which the body of a refusal is read; it only explains.
    private static let refusalBytes = 1 << 20

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
    func onlyExplains(_ head: ResponseHead) -> Bool {
        head.status >= 400 && exchange?.request.response == nil
    }

    func takeContent() -> ByteSlice {
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
}
