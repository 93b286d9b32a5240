/// The same connection without a socket: a carrier sends the requests, and what it brings is read as if it
/// had come from a socket. So there is one reader of responses, with one set of limits.
extension HTTPClientConnection {
    /// Hands the request over; called once for each request.
    func write(to carrier: any HTTPCarrier) {
        guard !outbox.isEmpty else { return }
        let request = HTTPCarrierRequest(outbox, at: pool.endpoint)
        outbox = ByteSlice()
        exchange?.wasSent = true
        let receiver = HTTPCarrierReceiver(self)
        carried = CarriedRequest(receiver: receiver, task: carrier.start(request, receiver))
    }

    /// Gives up a request whose response has not ended.
    func cancelCarried() {
        carried?.task.cancel()
        carried = nil
    }

    func begin(status: Int, fields: [(name: String, value: String)]) {
        guard carried?.isChunked == nil, case .head = phase else { return }
        guard (200 ... 999).contains(status) else {
            return fail(
                ClientError(.protocolViolation, "\(pool.endpoint.name) responded with the status \(status)"))
        }
        hasAnswerBytes = true
        let hasBody = status != 204 && status != 304
        carried?.isChunked = hasBody
        inbox.append("HTTP/1.1 ")
        inbox.append(utf8: String(status))
        inbox.append(" \r\n")
        for (name, value) in fields where !Self.frames(name) {
            var field = HeaderFields()
            // A field that no server could send is not one of this server.
            try? field.append(name, value)
            RequestWriter.write(field, to: &inbox)
        }
        inbox.append(hasBody ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n")
        process()
    }

    /// Whether a field is about the connection or the coding of the carrier, which has decoded the body.
    private static func frames(_ name: String) -> Bool {
        ["content-length", "transfer-encoding", "connection", "keep-alive", "content-encoding", "trailer"]
            .contains(name.lowercased())
    }

    func receive(carried bytes: [UInt8]) {
        guard carried?.isChunked == true, !bytes.isEmpty else { return }
        inbox.append(utf8: String(bytes.count, radix: 16))
        inbox.append("\r\n")
        inbox.append(ByteSlice(bytes))
        inbox.append("\r\n")
        process()
    }

    func finishCarried() {
        guard let isChunked = carried?.isChunked else {
            return failCarried("the server sent no response", wasConnected: true)
        }
        carried = nil
        if isChunked { inbox.append("0\r\n\r\n") }
        process()
    }

    func failCarriedFlood() {
        fail(ClientError(.protocolViolation, "\(pool.endpoint.name) sends faster than its response is read"))
    }

    func failCarried(_ reason: String, wasConnected: Bool) {
        carried = nil
        if wasConnected { return lost(reason) }
        exchange?.wasSent = false
        refuse(.unreachable(reason))
    }
}
