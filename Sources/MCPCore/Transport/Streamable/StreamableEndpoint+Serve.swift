/// The path from a request on a connection to the response that is sent on it.
extension StreamableEndpoint {
    func serveMessage(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection,
        as caller: Caller?
    ) {
        var channel: ServerChannel
        do {
            channel = try self.channel(
                of: head, in: bytes, connection: connection.identifier, caller: caller)
        } catch {
            return connection.respond(error.aboutMessage)
        }
        if dispatcher.isObserved { channel.peer = connection.peer }
        let wasOpen = channel.session == nil
        let response = ResponseWriter.beginJSON(
            keepAlive: connection.keepAlive, extra: connection.page, in: &connection.output.out)
        var exchange: HTTPResponseStream?
        let session = channel.session.map { (channelID: channel.id, revision: $0.revision) }
        let version = head.version
        // Only what the closure needs is captured: it is made for each request.
        let field = caller == nil ? nil : head.value(.authorization, in: bytes)
        let disposition = dispatcher.receive(body, from: &channel, into: &connection.output) {
            let made = HTTPResponseStream(
                connection: connection, endpoint: self, version: version, session: session, caller: caller,
                credential: access?.credential(of: caller, field, peer: { connection.peerUser }))
            exchange = made
            return made
        }
        switch disposition {
        case .answered(let status):
            var extra: HeaderFields?
            if wasOpen, let session = channel.session {
                extra = sessionHeader(for: session, caller)
            }
            if status == 403, let caller { extra = access?.challengeFields(for: caller) }
            if status == 503 { extra = .retryAfter }
            if status == 200, extra == nil {
                ResponseWriter.finish(response, in: &connection.output.out)
            } else {
                connection.rewriteHead(response, status: channel.legacyStatus(status), extra)
            }
            connection.becomeIdle()
        case .accepted, .dropped:
            connection.output.out.truncate(to: response.start)
            connection.respond(EarlyResponse(status: 202))
        case .deferred(let pending):
            connection.output.out.truncate(to: response.start)
            guard let exchange else { return connection.respond(EarlyResponse(status: 500)) }
            exchange.keep(body, of: connection.context.memory)
            exchange.attach(pending)
            connection.wait(for: exchange)
            exchange.deliverEarly()
            if connection.isStopping { exchange.serverStops() }
        }
    }

    func serveEnd(
        _ head: RequestHead, _ bytes: ByteSlice, on connection: HTTPConnection, as caller: Caller?
    ) {
        do {
            try endSession(head, in: bytes, caller)
            connection.respond(EarlyResponse(status: 204))
        } catch {
            connection.respond(error)
        }
    }

    /// Opens the stream that a GET requests: that of the server's own messages, or the rest
    /// of an earlier one.
    func serveStream(
        _ head: RequestHead, _ bytes: ByteSlice, on connection: HTTPConnection, as caller: Caller?,
        elsewhere: SharedStreams.Found? = nil
    ) {
        do throws(EarlyResponse) {
            let session = try openedSession(head, in: bytes, caller)
            var resumed: (stream: ResumableStream, number: Int)?
            var rest: SharedStreams.Rest?
            if let id = head.value(.lastEventID, in: bytes), !id.isEmpty {
                resumed = streams.find(id, in: session.channelID)
                if resumed == nil { rest = try Self.rest(elsewhere) }
            }
            if rest == nil || rest?.record.continuesHere == true {
                try checkRoom(in: session, for: resumed?.stream)
            }
            let exchange = HTTPResponseStream(
                connection: connection, endpoint: self, version: head.version,
                session: (session.channelID, session.negotiated.revision), caller: caller,
                credential: access?.credential(
                    of: caller, head.value(.authorization, in: bytes), peer: { connection.peerUser }))
            guard exchange.hasRoom else {
                throw EarlyResponse(status: 503, text: WaitingResponses.excess, fields: .retryAfter)
            }
            connection.wait(for: exchange)
            if let (stream, number) = resumed {
                guard exchange.takeUp(stream, after: number) else { throw Self.eventsAreGone }
            } else if let rest {
                exchange.replay(rest)
            } else {
                exchange.openServerStream()
            }
            if connection.isStopping { exchange.serverStops() }
        } catch {
            connection.respond(error)
        }
    }

    /// Returns what another instance has stored of a stream after an event.
    private static func rest(_ found: SharedStreams.Found?) throws(EarlyResponse) -> SharedStreams.Rest {
        switch found {
        case .away: throw eventsAreUnknown
        case .stream(let record, let number):
            guard let rest = record.rest(after: number) else { throw eventsAreGone }
            return rest
        case .unknown, nil: throw eventsAreGone
        }
    }
}

extension EarlyResponse {
    /// The same response for a message that was read: a JSON-RPC error without an id (HTTP-08).
    var aboutMessage: EarlyResponse {
        var out = JSONWriter()
        ResultEnvelope.error(.invalidRequest(text ?? ""), id: nil, to: &out, for: .newest)
        return EarlyResponse(status: status, text: String(out.finish()), isJSON: true, fields: fields)
    }
}

extension ServerChannel {
    /// Returns the status for a legacy session, in which an unknown method is an ordinary JSON-RPC error: 404
    /// would mean that the session is gone.
    func legacyStatus(_ status: Int) -> Int { session != nil && status == 404 ? 200 : status }
}
