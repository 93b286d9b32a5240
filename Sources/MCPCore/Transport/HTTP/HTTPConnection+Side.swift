/// Requests for the side door.
extension HTTPConnection {
    /// Has the door answer a request; the connection waits.
    func ask(_ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, consuming count: Int) {
        // Copied: a stream may last long, and the block that its request was read into is needed.
        let request = HTTPSideRequest(head, in: bytes, body.copy(), isFromOwnUser: isFromOwnUser)
        input.consume(count)
        let memory = share.budget
        guard let request, let beside = endpoint.beside else { return answer(.init(status: 500)) }
        let response = HTTPSideResponse(connection: self, version: head.version, isHead: isHead)
        response.keep(request.body, of: memory)
        phase = .serving(response)
        armTimer(after: endpoint.options.keepAliveInterval)
        response.begin(beside.door, request, atMost: endpoint.dispatcher.options.limits.requestDeadline)
    }

    /// Answers 101, and gives the socket away once the client has taken that.
    func leave(_ headers: HeaderFields, _ departure: Departure) {
        ResponseWriter.writeHead(
            status: 101, framing: .none, keepAlive: true, extra: headers, to: &output.out)
        phase = .leaving(departure)
        scheduleFlush()
    }
}
