import Synchronization

/// A connection of a provider over plain HTTP requests, for web pages and for programs behind proxies: an
/// event stream carries the messages to it, and it posts its own (the framing of HTTP+SSE of 2024-11-05, with
/// the roles swapped). The end of the stream is the end of the connection.
final class ProviderStream: MessageTransport {
    private let counted = Counted(.providerStream)

    /// The maximum size of a message to a provider: 512 KiB, because a client that leaves 1 MiB of a stream
    /// unread is disconnected. The call of a larger one fails.
    static let messageBytes = 512 << 10

    let id = Hex.encode(SystemRandom().bytes(16))
    let channel: String
    /// The origin of the page that opened the stream; only that page may post.
    let origin: String?
    private let outgoing = BoundedQueue<SSEEvent>(limit: 2 << 20) { $0.data.count + 64 }
    private let incoming = BoundedQueue<[UInt8]>(limit: ProviderLink.options.maxMessageBytes) {
        $0.count + 64
    }
    private let messages: AsyncStream<[UInt8]>
    private let onEnd: @Sendable (_ id: String) -> Void

    init(channel: String, origin: String?, onEnd: @escaping @Sendable (_ id: String) -> Void) {
        self.channel = channel
        self.origin = origin
        self.onEnd = onEnd
        messages = incoming.stream(whenDropped: {})
    }

    /// Returns the events, which begin with the place to post messages to. To be called once.
    func events() -> AsyncStream<SSEEvent> {
        // Relative, because a proxy may serve the daemon below another path.
        _ = outgoing.add(SSEEvent(data: ByteSlice("providers/messages?link=\(id)"), type: "endpoint"))
        return outgoing.stream(whenDropped: { [weak self] in self?.end() })
    }

    /// Accepts a message of the provider; returns false when the connection has ended.
    func take(_ message: ByteSlice) -> Bool { incoming.add(message.array) }

    func send(_ message: [UInt8]) async throws {
        guard message.count > Self.messageBytes else {
            guard outgoing.add(SSEEvent(data: ByteSlice(message))) else {
                end()
                throw ClientError(.connectionClosed, "the client does not read its event stream")
            }
            return
        }
        // The call fails; the connection continues.
        guard let id = try JSONValue(parsing: ByteSlice(message))["id"] else { return }
        let text = "its arguments have \(message.count) bytes; at most 512 KiB reach a client over HTTP"
        let answer: JSONValue = [
            "jsonrpc": "2.0", "id": id, "error": ["code": -32600, "message": .string(text)],
        ]
        _ = incoming.add(RawJSON(answer).bytes.array)
    }

    func receive() async throws -> [UInt8]? {
        for await message in messages { return message }
        return nil
    }

    func close() async { end() }

    /// Ends the connection; the client sees the end of its event stream.
    func end() {
        incoming.finish()
        outgoing.finish()
        onEnd(id)
    }
}

/// The open connections of providers over plain HTTP requests.
final class ProviderStreams: Sendable {
    /// The connections at the same time: 1,024. A further one is refused (503).
    static let limit = 1_024

    private let open = Mutex<[String: ProviderStream]>([:])

    var isEmpty: Bool { open.withLock { $0.isEmpty } }

    subscript(id: String) -> ProviderStream? { open.withLock { $0[id] } }

    /// Creates a connection; nil when there are too many.
    func add(channel: String, origin: String?) -> ProviderStream? {
        let stream = ProviderStream(channel: channel, origin: origin) { [weak self] id in
            self?.open.withLock { _ = $0.removeValue(forKey: id) }
        }
        let isAdded = open.withLock { open in
            guard open.count < Self.limit else { return false }
            open[stream.id] = stream
            return true
        }
        return isAdded ? stream : nil
    }
}
