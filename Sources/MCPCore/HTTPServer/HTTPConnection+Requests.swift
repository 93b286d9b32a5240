/// The path from bytes to a response.
extension HTTPConnection {
    /// Serves requests as long as they are complete and there is room for their responses.
    func process() {
        while true {
            switch phase.next(hasRoom: hasRoom) {
            case .parseHead: guard parseHead() else { return }
            case .readBody:
                guard case .body(let head, var reader) = work, readBody(head, &reader) else { return }
            case .flush: return scheduleFlush()
            case .wait: return
            }
        }
    }

    /// Parses the next head. Returns whether to continue at once.
    private func parseHead() -> Bool {
        guard !input.isEmpty else { return false }
        let outcome = unsafe input.withBytes { unsafe parser.parse($0) }
        switch outcome {
        case .needMore:
            if parser.forgetEmptyLine(input.count) {
                input.removeAll(keeping: Self.readBytes)
                carryOut(phase.headIsEmpty(context.times))
            } else {
                carryOut(phase.headIsIncomplete(at: loop.now, context.times))
            }
            return false
        case .failed(let error):
            var sender: RequestHandler?
            if let head = parser.failedHead {
                // Only what follows it is refused, such as its body.
                let bytes = input.slice(0 ..< head.byteCount)
                noteSender(of: head, in: bytes)
                if case .serve(let handler) = check(head, bytes) { sender = handler }
            } else {
                // The request is unknown, and so is its sender, but it may begin like a HEAD request.
                page = nil
                namedPeer = nil
                isHead = unsafe input.withBytes { unsafe $0.starts(with: Self.headMethod) }
            }
            fail(EarlyResponse(status: error.status, text: error.reason), from: sender)
            return false
        case .head(let head): return begin(head)
        }
    }

    private static let headMethod = Array("HEAD ".utf8)

    private func begin(_ head: RequestHead) -> Bool {
        keepAlive = keepAlive && head.keepAlive
        let bytes = input.slice(0 ..< head.byteCount)
        noteSender(of: head, in: bytes)
        switch check(head, bytes) {
        case .serve(let handler): return begin(head, bytes, handler)
        case .refuse(let response): return refuse(head, counted(response, head, in: bytes))
        }
    }

    @inline(__always)
    private func check(_ head: RequestHead, _ bytes: ByteSlice) -> RequestHandler.Decision {
        context.handler.check(
            head, in: bytes, context: context, isFromOwnUser: { isFromOwnUser }, peer: { peerUser },
            memory: &memory)
    }

    /// Records what the responses to a request, and the lines about it, depend on.
    @inline(__always)
    private func noteSender(of head: RequestHead, in bytes: ByteSlice) {
        isHead = head.method == .head
        if context.options.proxies.isActive { namedPeer = peer(namedBy: head, in: bytes) }
        page = head.range(.origin) == nil ? nil : context.handler.page(of: head, in: bytes, context.policy)
    }

    /// Whether the client of a request has presented so many wrong credentials that another one is not even
    /// looked at.
    func hasFailedTooOften(_ head: RequestHead, in bytes: ByteSlice) -> Bool {
        guard context.failedAttempts.isActive, let address = clientAddress(head, in: bytes) else {
            return false
        }
        return context.failedAttempts.areTooMany(from: address, at: loop.clock.now)
    }

    /// Counts a refused credential, and returns the response to it.
    func counted(_ response: EarlyResponse, _ head: RequestHead, in bytes: ByteSlice) -> EarlyResponse {
        guard response.isFailedAttempt, let address = clientAddress(head, in: bytes) else {
            return response
        }
        return context.failedAttempts.add(address, at: loop.clock.now) ? .tooManyAttempts : response
    }

    private func begin(_ head: RequestHead, _ bytes: ByteSlice, _ handler: RequestHandler) -> Bool {
        expect(head.contentLength ?? 0)
        if !head.isChunked {
            let end = head.byteCount + (head.contentLength ?? 0)
            if input.count >= end {
                let body = input.slice(head.byteCount ..< end)
                input.consume(end)
                serve(head, bytes, body, by: handler)
                return true
            }
        }
        return beginBody(head, bytes, handler)
    }

    /// Begins to read a body that has not arrived with its head, if there is memory for it.
    private func beginBody(_ head: RequestHead, _ bytes: ByteSlice, _ handler: RequestHandler) -> Bool {
        if let length = head.contentLength, length > Self.ownBytes, !share.budget.has(length) {
            refuseForMemory(handler)
            return false
        }
        let waiting = handler.waiting { clientAddress(head, in: bytes) }
        guard context.counter.hasRoom(for: waiting) else {
            fail(
                EarlyResponse(status: 503, text: WaitingResponses.excess, fields: .retryAfter), from: handler)
            return false
        }
        if head.expectsContinue {
            ResponseWriter.writeContinue(to: &output.out)
            scheduleFlush()
        }
        let reader = BodyReader(
            head, bytes: bytes, startedAt: loop.now, options: context.options, handler: handler,
            waiting: waiting)
        input.consume(head.byteCount)
        phase.beginBody()
        work = .body(head, reader)
        armBodyTimer(reader)
        return true
    }

    private func readBody(_ head: RequestHead, _ reader: inout BodyReader) -> Bool {
        switch reader.read(&input) {
        case .needMore:
            work = .body(head, reader)
            return false
        case .failed(let error):
            fail(status: error.status, error.reason)
            return false
        case .done(let body):
            phase.endBody()
            work = .none
            reader.leave()
            serve(head, reader.headBytes, body, by: reader.handler)
            return true
        }
    }

    private func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, by handler: RequestHandler
    ) {
        handler.serve(head, bytes, body, on: self)
        scheduleFlush()
    }

    /// Responds to a head that was refused; the connection continues if no body follows.
    private func refuse(_ head: RequestHead, _ response: EarlyResponse) -> Bool {
        if response.closes {
            fail(response)
            return false
        }
        guard head.hasBody else {
            input.consume(head.byteCount)
            respond(response)
            return true
        }
        let total = head.byteCount + (head.contentLength ?? Int.max / 2)
        if !head.isChunked, input.count >= total {
            input.consume(total)
            respond(response)
            return true
        }
        fail(response)
        return false
    }

    // MARK: Responses

    /// Makes the connection wait for a response that is still to come.
    func wait(for response: PendingResponse) {
        work = .response(response)
        timer?.arm(at: phase.serve(at: loop.now, context.times))
    }

    /// Responds and continues with the next request.
    func respond(_ response: EarlyResponse) {
        write(response)
        becomeIdle()
        scheduleFlush()
    }

    /// Responds to a request that could not be read, and closes the connection.
    func fail(status: Int, _ text: String) { fail(EarlyResponse(status: status, text: text)) }

    /// Responds to a request that ends the connection.
    ///
    /// - Parameter handler: the handler that knows who sent it; without one, that of the body that is being
    ///   read.
    func fail(_ response: EarlyResponse, from handler: RequestHandler? = nil) {
        keepAlive = false
        var response = response
        if response.caller == nil { response.caller = (handler ?? readingHandler)?.shownCaller }
        write(response)
        closeAfterAnswer()
    }

    private var readingHandler: RequestHandler? {
        if case .body(_, let reader) = work { reader.handler } else { nil }
    }

    /// Closes the connection because a request did not arrive in time. Its client, which may not even read,
    /// receives no response.
    func closeLate() {
        var refusal = EarlyResponse(status: 408, text: "The head of the request did not arrive in time")
        if let handler = readingHandler {
            refusal.text = "The body of the request did not arrive in time"
            refusal.caller = handler.shownCaller
        } else {
            // The sender of the request before it.
            namedPeer = nil
        }
        if context.resources.onRefusal != nil { context.report(refusal, peer: peer?.address) }
        close()
    }

    private func write(_ response: EarlyResponse) {
        if response.status >= 400, context.resources.onRefusal != nil {
            context.report(response, peer: peer?.address)
        }
        if let text = response.text {
            ResponseWriter.writeText(
                status: response.status, text, isJSON: response.isJSON, withoutBody: isHead,
                keepAlive: keepAlive, extra: fields(response.fields), to: &output.out)
        } else {
            let framing: ResponseWriter.Framing = response.status == 204 ? .none : .length(0)
            ResponseWriter.writeHead(
                status: response.status, framing: framing, keepAlive: keepAlive,
                extra: fields(response.fields),
                to: &output.out)
        }
    }

    /// Returns the fields of a response: its own, and those for the page that sent the request.
    func fields(_ own: HeaderFields?) -> HeaderFields? {
        guard let page else { return own }
        guard var all = own else { return page }
        // What every page may read says so itself.
        guard all["Access-Control-Allow-Origin"] == nil else { return all }
        all.append(contentsOf: page)
        return all
    }

    /// Replaces the status of a response that was begun as 200, and adds fields. Only rare cases need this.
    func rewriteHead(_ response: ResponseWriter.OpenResponse, status: Int, _ extra: HeaderFields?) {
        let body = output.out.withCopy(from: response.bodyStart)
        output.out.truncate(to: response.start)
        ResponseWriter.writeHead(
            status: status, contentType: "application/json", framing: .length(body.count),
            keepAlive: keepAlive, extra: fields(extra), to: &output.out)
        output.out.append(body)
    }
}

extension ByteBuffer {
    /// Returns a copy of the bytes from `offset` on.
    fileprivate func withCopy(from offset: Int) -> [UInt8] {
        unsafe withBytes { unsafe Array($0[offset...]) }
    }
}
