/// A transport that writes one message per line, whatever is at the other end.
protocol LineClientTransport: ClientTransport {
    var loop: EventLoop { get }
    var line: LoopBound<CurrentLine> { get }
}

extension LineClientTransport {
    var isHTTP: Bool { false }

    var executor: (any TaskExecutor)? { loop }

    func send(_ message: OutboundMessage, id: Int64) { write(message.bytes, id) }

    func post(_ message: OutboundMessage) async throws(ClientError) { write(message.bytes, nil) }

    func abandon(_ id: Int64, notice: OutboundMessage?) {
        if let notice { write(notice.bytes, nil) }
    }

    private func write(_ bytes: ByteSlice, _ id: Int64?) {
        let line = line
        // A caller on the loop needs no change of threads.
        if loop.mayRunNow {
            line.value.send(bytes, id)
        } else {
            loop.execute { line.value.send(bytes, id) }
        }
    }
}
