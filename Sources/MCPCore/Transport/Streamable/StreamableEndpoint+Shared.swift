/// Sessions that another instance may have ended.
extension StreamableEndpoint {
    /// Serves a request once the store has told whether its session continues.
    func consult(
        _ shared: SharedState, on session: LegacySessions.Session, _ head: RequestHead, _ bytes: ByteSlice,
        _ body: ByteSlice, on connection: HTTPConnection, as caller: Caller?
    ) {
        let request = WaitingRequest(head, bytes, body, on: connection)
        connection.wait(for: request)
        let isEnd = head.method == .delete
        let eventID = head.method == .get ? head.value(.lastEventID, in: bytes)?.copy() : nil
        Task { [self] in
            let refusal = await refusal(by: shared, of: session, isEnd: isEnd)
            var elsewhere: SharedStreams.Found?
            if refusal == nil, let eventID, streams.find(eventID, in: session.channelID) == nil {
                elsewhere = .unknown
                if eventID.count <= 64, let (name, number) = ReplayLog.parts(of: String(eventID)) {
                    elsewhere = await shared.streams.find(
                        String(name), after: number, in: session.channelID)
                }
            }
            let found = elsewhere
            request.loop.execute {
                request.go { (connection, head, bytes, body) throws(EarlyResponse) in
                    if let refusal {
                        throw head.method == .post ? refusal.aboutMessage : refusal
                    }
                    self.serveNow(head, bytes, body, on: connection, as: caller, elsewhere: found)
                }
            }
        }
    }

    /// Returns the response to a request whose session does not continue, or cannot be ended; nil for others.
    ///
    /// - Parameter isEnd: whether the request ends the session, which is then done for all instances.
    func refusal(
        by shared: SharedState, of session: LegacySessions.Session, isEnd: Bool
    ) async -> EarlyResponse? {
        if await shared.isEnded(session.channelID) { return Self.unknownSession }
        guard isEnd else { return nil }
        let lifetime = Duration.seconds(sessions.longestLifetime)
        if await shared.end(session.channelID, lifetime: lifetime) { return nil }
        return EarlyResponse(
            status: 503,
            text:
                "This session was not ended: the state of the server cannot be changed now. Try again later",
            fields: try? HeaderFields(["Retry-After": "1"]))
    }
}
