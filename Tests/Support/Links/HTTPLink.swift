import Dispatch
package import MCPCore
import Synchronization

/// Sends each message over a TCP connection of its own.
package final class HTTPLink: RawLink {
    private struct State {
        var heard: [RawJSON] = []
        var sockets: [RequestID: WireSocket] = [:]
        var listener: (@Sendable (RawJSON) -> Void)?
    }

    private let state = Mutex(State())
    private let port: UInt16

    private let recorder: MessageRecorder

    package init(port: UInt16, _ recorder: MessageRecorder) {
        self.port = port
        self.recorder = recorder
    }

    package var heard: [RawJSON] { state.withLock { $0.heard } }

    package func listen(_ listener: @escaping @Sendable (RawJSON) -> Void) {
        state.withLock { $0.listener = listener }
    }

    package func exchange(_ message: RawMessage) async -> RawReply {
        guard let socket = try? WireSocket(port: port, isRecorded: false) else { return RawReply() }
        if let id = message.id { state.withLock { $0.sockets[id] = socket } }
        let fields = message.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        let request =
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n"
            + "Accept: application/json, text/event-stream\r\n\(fields)Content-Length: \(message.text.utf8.count)\r\n\r\n"
            + message.text
        let reply = await withCheckedContinuation { continuation in
            DispatchQueue(label: "test.http").async {
                socket.send(request)
                var reader = WireReader(socket)
                continuation.resume(returning: self.reply(reader.response { self.hear($0) }))
            }
        }
        if let id = message.id { state.withLock { $0.sockets[id] = nil } }
        socket.shutdown()
        return reply
    }

    private func hear(_ event: String) {
        recorder.saw(event, from: .server)
        guard let json = try? RawJSON(validating: event) else { return }
        let listener = state.withLock { state in
            state.heard.append(json)
            return state.listener
        }
        listener?(json)
    }

    private func reply(_ response: WireResponse?) -> RawReply {
        guard let response else { return RawReply() }
        var reply = RawReply(status: response.status, headers: response.headers)
        if response.isEventStream {
            // HTTP-18: the answer is the last event.
            reply.answer = response.events.last.flatMap { try? RawJSON(validating: $0) }
            if reply.answer?["method"] != nil { reply.answer = nil }
        } else if !response.body.isEmpty {
            hear(response.body)
            reply.answer = try? RawJSON(validating: response.body)
        }
        return reply
    }

    // HTTP-24
    package func disconnect(_ id: RequestID) { state.withLock { $0.sockets[id] }?.shutdown() }

    package func close() async {
        for socket in state.withLock({ $0.sockets.values }) { socket.shutdown() }
    }
}
