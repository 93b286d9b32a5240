import Synchronization

/// An HTTP stack that carries the requests of a client in place of this library's sockets and TLS: that of
/// the platform, with its proxies, its trust and its policies. `MCPFoundation` has one for `URLSession`.
///
/// The client keeps the protocol: fields, sessions, event streams and their resumption, credentials, limits.
/// A carrier sends one request and reports its response as it arrives. It follows no redirect, adds no cookie
/// and no credentials, and answers from no cache.
public protocol HTTPCarrier: Sendable {
    /// Starts a request. Returns at once; the response goes to `receiver`, from any thread.
    func start(_ request: HTTPCarrierRequest, _ receiver: HTTPCarrierReceiver) -> any HTTPCarrierTask
}

/// A request that a carrier has started.
public protocol HTTPCarrierTask: Sendable {
    /// Ends the request; the server sees that the connection or the stream ends. Called from any thread, also
    /// after the end of the response.
    func cancel()
}

/// A request for a carrier.
public struct HTTPCarrierRequest: Sendable {
    /// The method: POST, GET or DELETE.
    public let method: String
    /// The absolute URL.
    public let url: String
    /// The header fields, without `Host` and `Content-Length`, which follow from the URL and the body.
    public let fields: HeaderFields
    /// The body; empty for GET and DELETE.
    public let body: [UInt8]

    /// Takes a request of this client apart.
    init(_ bytes: ByteSlice, at endpoint: HTTPEndpoint) {
        let all = bytes.array
        let end = all.indices.first { all[$0...].starts(with: [13, 10, 13, 10]) } ?? all.count
        let lines = String(decoding: all[..<end], as: UTF8.self).split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        var fields = HeaderFields()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let name = line[..<colon].lowercased()
            guard name != "host", name != "content-length", name != "connection" else { continue }
            // Both were checked when the request was written.
            try? fields.append(String(line[..<colon]), String(line[line.index(after: colon)...]).trimmed)
        }
        method = String(words.first ?? "")
        url = endpoint.url(words.count > 1 ? String(words[1]) : nil)
        self.fields = fields
        body = Array(all[end...].dropFirst(4))
    }
}

/// The receiver of a response that a carrier brings. Calls come one after the other; those after the end, and
/// those that are out of order, have no effect.
public final class HTTPCarrierReceiver: Sendable {
    private let connection: LoopBound<Weak>
    private let loop: EventLoop
    /// The bytes that the loop has not read yet, and how many may be.
    private let waiting = Atomic(0)
    private let maxWaitingBytes: Int

    private struct Weak { weak var connection: HTTPClientConnection? }

    init(_ connection: HTTPClientConnection) {
        loop = connection.loop
        maxWaitingBytes = connection.pool.options.maxMessageBytes
        self.connection = LoopBound(Weak(connection: connection), loop: connection.loop)
    }

    /// Reports the status and the fields. A value that no field can have is left out.
    public func begin(status: Int, fields: [(name: String, value: String)]) {
        run { $0.begin(status: status, fields: fields) }
    }

    /// Reports a part of the body, without any coding of the transfer or the content. More than
    /// `ClientOptions.maxMessageBytes` that the client has not come to read end the response.
    public func receive(_ bytes: [UInt8]) {
        let sum = waiting.wrappingAdd(bytes.count, ordering: .relaxed).newValue
        guard sum <= maxWaitingBytes else { return run { $0.failCarriedFlood() } }
        run { [self] connection in
            waiting.wrappingSubtract(bytes.count, ordering: .relaxed)
            connection.receive(carried: bytes)
        }
    }

    /// Reports the end of the response.
    public func finish() { run { $0.finishCarried() } }

    /// Reports that there is no response, or no more of it.
    ///
    /// - Parameters:
    ///   - reason: what happened, for people; begins with a small letter, without secrets.
    ///   - wasConnected: whether the server may have received the request.
    public func fail(_ reason: String, wasConnected: Bool) {
        run { $0.failCarried(reason, wasConnected: wasConnected) }
    }

    private func run(_ body: @escaping @Sendable (HTTPClientConnection) -> Void) {
        loop.execute { [self] in
            guard let connection = connection.value.connection, connection.carried?.receiver === self else {
                return
            }
            body(connection)
        }
    }
}

/// A request that a carrier carries for a connection.
struct CarriedRequest {
    let receiver: HTTPCarrierReceiver
    let task: any HTTPCarrierTask
    /// Whether the body of the response is sent on in chunks; nil before its head.
    var isChunked: Bool?
}

extension ClientTarget {
    /// Returns the target for a Streamable HTTP endpoint whose requests another HTTP stack carries.
    ///
    /// - Parameters:
    ///   - url: `http://` or `https://`.
    ///   - carrier: the HTTP stack, for example `URLSessionCarrier` of `MCPFoundation`.
    public static func http(_ url: String, carrier: any HTTPCarrier) -> ClientTarget {
        var target = ClientTarget(url) { (options) throws(ClientError) in
            try HTTPClientTransport(HTTPEndpoint(url: url), options: options, carrier: carrier)
        }
        target.url = url
        target.redirected = { error in
            (try? HTTPEndpoint(url: url))?.redirected(by: error).map { .http($0, carrier: carrier) }
        }
        return target
    }
}
