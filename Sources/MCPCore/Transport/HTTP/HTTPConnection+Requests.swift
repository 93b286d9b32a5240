/// From bytes to an answer.
extension HTTPConnection {
    /// Serves as many requests as are complete and as the client takes answers for.
    func process() {
        while hasRoom {
            switch phase {
            // What stands behind a request that ends the connection is not served (RFC 9112, section 9.6).
            case .idle where !keepAlive: return scheduleFlush()
            case .idle, .head: guard parseHead() else { return }
            case .body(let head, var reader):
                guard readBody(head, &reader) else { return }
            case .serving, .leaving, .draining, .closed: return
            }
        }
        scheduleFlush()
    }

    /// Returns whether to go on at once.
    private func parseHead() -> Bool {
        guard !input.isEmpty else { return false }
        let outcome = unsafe input.withBytes { unsafe parser.parse($0) }
        switch outcome {
        case .needMore:
            if case .idle = phase {
                phase = .head
                armTimer(after: endpoint.options.headTimeout)
            }
            return false
        case .failed(let error):
            // What was asked is not known, but it may begin like a HEAD.
            isHead = unsafe input.withBytes { unsafe $0.starts(with: Self.headMethod) }
            fail(status: error.status, error.reason)
            return false
        case .head(let head):
            isHead = head.method == .head
            return begin(head)
        }
    }

    private static let headMethod = Array("HEAD ".utf8)

    private func begin(_ head: RequestHead) -> Bool {
        keepAlive = keepAlive && head.keepAlive
        let bytes = input.slice(0 ..< head.byteCount)
        let purpose: StreamableEndpoint.Purpose
        do {
            purpose = try endpoint.check(head, in: bytes)
        } catch {
            return beginBeside(head, bytes, error)
        }
        return begin(head, bytes, purpose, at: endpoint)
    }

    /// What the main endpoint does not have may be served beside it.
    private func beginBeside(
        _ head: RequestHead, _ bytes: ByteSlice, _ refusal: StreamableEndpoint.Plain
    ) -> Bool {
        do {
            let route = try endpoint.route(
                head, in: bytes, refusedWith: refusal, isFromOwnUser: { isFromOwnUser })
            return begin(head, bytes, route.purpose, at: route.endpoint)
        } catch {
            return refuse(head, error)
        }
    }

    /// - Parameter place: who takes the request; nil: the side door.
    private func begin(
        _ head: RequestHead, _ bytes: ByteSlice, _ purpose: StreamableEndpoint.Purpose,
        at place: StreamableEndpoint?
    ) -> Bool {
        if let length = head.contentLength, length > endpoint.options.limits.maxBodyBytes {
            fail(status: 413, "The body is larger than \(endpoint.options.limits.maxBodyBytes) bytes")
            return false
        }
        expect(head.contentLength ?? 0)
        if let place {
            if purpose == .endSession { return endSession(head, bytes, at: place) }
            if purpose == .openStream { return openStream(head, bytes, at: place) }
        }
        if !head.isChunked {
            let end = head.byteCount + (head.contentLength ?? 0)
            if input.count >= end {
                serve(head, bytes, input.slice(head.byteCount ..< end), consuming: end, at: place)
                return true
            }
        }
        return beginBody(head, bytes, at: place)
    }

    /// Reads a body that has not come with its head, when there is memory for it.
    private func beginBody(
        _ head: RequestHead, _ bytes: ByteSlice, at place: StreamableEndpoint?
    ) -> Bool {
        if let length = head.contentLength, length > Self.ownBytes, !share.budget.has(length) {
            refuseForMemory()
            return false
        }
        if head.expectsContinue {
            ResponseWriter.writeContinue(to: &output.out)
            scheduleFlush()
        }
        let reader = BodyReader(
            head, bytes: bytes, startedAt: loop.now, options: endpoint.options, endpoint: place)
        input.consume(head.byteCount)
        phase = .body(head, reader)
        armBodyTimer(reader)
        return true
    }

    private func readBody(_ head: RequestHead, _ reader: inout BodyReader) -> Bool {
        switch reader.read(&input) {
        case .needMore:
            phase = .body(head, reader)
            return false
        case .failed(let error):
            fail(status: error.status, error.reason)
            return false
        case .done(let body):
            phase = .idle
            serve(head, reader.headBytes, body, consuming: 0, at: reader.endpoint)
            return true
        }
    }

    // MARK: Serving

    private func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, consuming count: Int,
        at place: StreamableEndpoint?
    ) {
        guard let endpoint = place else { return ask(head, bytes, body, consuming: count) }
        var origin: Origin
        do {
            origin = try endpoint.origin(of: head, in: bytes, connection: identifier)
        } catch {
            input.consume(count)
            return answer(error.aboutMessage)
        }
        let wasOpen = if case .none = origin.slot { true } else { false }
        let response = ResponseWriter.beginJSON(keepAlive: keepAlive, in: &output.out)
        var exchange: HTTPExchange?
        let session = origin.slot.session.map { (scope: origin.scope, revision: $0.revision) }
        let disposition = endpoint.dispatcher.receiveAny(body, from: &origin, into: &output) {
            let made = HTTPExchange(
                connection: self, endpoint: endpoint, version: head.version, session: session)
            exchange = made
            return made
        }
        input.consume(count)
        switch disposition {
        case .answered(let status):
            var extra: HeaderFields?
            if wasOpen, case .negotiated(let session) = origin.slot {
                extra = endpoint.sessionHeader(for: session)
            }
            if status == 200, extra == nil {
                ResponseWriter.finish(response, in: &output.out)
            } else {
                rewriteHead(response, status: origin.legacyStatus(status), extra)
            }
            becomeIdle()
        case .accepted, .dropped:
            output.out.truncate(to: response.start)
            answer(.init(status: 202))
        case .deferred(let pending):
            output.out.truncate(to: response.start)
            exchange?.keep(body, of: share.budget)
            wait(for: exchange, pending)
        }
        scheduleFlush()
    }

    private func wait(for exchange: HTTPExchange?, _ pending: Exchange?) {
        guard let exchange else { return answer(.init(status: 500)) }
        exchange.attach(pending)
        phase = .serving(exchange)
        exchange.deliverEarly()
        if isStopping { exchange.serverStops() }
        armTimer(after: endpoint.options.keepAliveInterval)
    }

    /// The head was written for 200; another status or further fields need another head. Only refusals and
    /// `initialize` come here.
    private func rewriteHead(
        _ response: ResponseWriter.OpenResponse, status: Int, _ extra: HeaderFields?
    ) {
        let body = output.out.withCopy(from: response.bodyStart)
        output.out.truncate(to: response.start)
        ResponseWriter.writeHead(
            status: status, contentType: "application/json", framing: .length(body.count),
            keepAlive: keepAlive, extra: extra, to: &output.out)
        output.out.append(body)
    }

    private func endSession(
        _ head: RequestHead, _ bytes: ByteSlice, at endpoint: StreamableEndpoint
    ) -> Bool {
        guard !head.hasBody else {
            fail(status: 400, "DELETE has no body here")
            return false
        }
        input.consume(head.byteCount)
        do {
            try endpoint.endSession(head, in: bytes)
            answer(.init(status: 204))
        } catch {
            answer(error)
        }
        return true
    }

    // MARK: Streams of a session

    /// Opens the stream that a GET asks for: that of the server's own messages, or the rest of an earlier
    /// one.
    private func openStream(
        _ head: RequestHead, _ bytes: ByteSlice, at endpoint: StreamableEndpoint
    ) -> Bool {
        guard !head.hasBody else {
            fail(status: 400, "GET has no body here")
            return false
        }
        input.consume(head.byteCount)
        do throws(StreamableEndpoint.Plain) {
            let session = try endpoint.openedSession(head, in: bytes)
            var resumed: (stream: ResumableStream, number: Int)?
            if let id = head.value(.lastEventID, in: bytes), !id.isEmpty {
                resumed = endpoint.streams.find(id, in: session.scope)
                if resumed == nil { throw StreamableEndpoint.eventsAreGone }
            }
            try endpoint.checkRoom(in: session, for: resumed?.stream)
            let exchange = HTTPExchange(
                connection: self, endpoint: endpoint, version: head.version,
                session: (session.scope, session.settled.revision))
            phase = .serving(exchange)
            if let (stream, number) = resumed {
                guard exchange.takeUp(stream, after: number) else {
                    phase = .idle
                    throw StreamableEndpoint.eventsAreGone
                }
            } else {
                exchange.openServerStream()
            }
            if isStopping { exchange.serverStops() }
            armTimer(after: endpoint.options.keepAliveInterval)
        } catch {
            answer(error)
        }
        return true
    }

    // MARK: Refusing

    /// Answers a head that did not pass; the connection goes on when no body follows.
    private func refuse(_ head: RequestHead, _ plain: StreamableEndpoint.Plain) -> Bool {
        guard head.hasBody else {
            input.consume(head.byteCount)
            answer(plain)
            return true
        }
        let total = head.byteCount + (head.contentLength ?? Int.max / 2)
        if !head.isChunked, input.count >= total {
            input.consume(total)
            answer(plain)
            return true
        }
        fail(plain)
        return false
    }

    func answer(_ plain: StreamableEndpoint.Plain) {
        write(plain)
        becomeIdle()
        scheduleFlush()
    }

    /// The one place that writes an answer that is no message.
    private func write(_ plain: StreamableEndpoint.Plain) {
        if let text = plain.text {
            ResponseWriter.writeText(
                status: plain.status, text, isJSON: plain.isMessage, withoutBody: isHead,
                keepAlive: keepAlive, extra: plain.extra, to: &output.out)
        } else {
            let framing: ResponseWriter.Framing = plain.status == 204 ? .none : .length(0)
            ResponseWriter.writeHead(
                status: plain.status, framing: framing, keepAlive: keepAlive, extra: plain.extra,
                to: &output.out)
        }
    }

    /// Answers what could not be read and closes.
    func fail(status: Int, _ text: String) { fail(.init(status: status, text: text)) }

    func fail(_ plain: StreamableEndpoint.Plain) {
        keepAlive = false
        write(plain)
        closeAfterAnswer()
    }
}

extension ByteBuffer {
    /// A copy of the bytes from `offset` on.
    func withCopy(from offset: Int) -> [UInt8] {
        unsafe withBytes { unsafe Array($0[offset...]) }
    }
}

extension Origin {
    /// In a legacy session an unknown method is an ordinary JSON-RPC error: 404 would say that the session is
    /// gone.
    func legacyStatus(_ status: Int) -> Int { slot.isNegotiated && status == 404 ? 200 : status }
}
