import Synchronization

/// The backend of Stream Chat clients: a server of the app that passes events on to its channels.
///
/// Each event is a POST of `application/json`: `ai_indicator.update` for a tool that uses sources outside the
/// conversation, then `custom_client_tool_invocation`. A status from 200 to 299 accepts it; the agent then
/// reads that the call was dispatched, or receives the `CallToolResult` in the member `result` of the
/// response to the invocation.
public struct StreamChatBackend: Sendable {
    /// The requests at the same time: 64. Calls beyond them fail at once.
    static let maxRequests = 64
    /// The maximum size of a response.
    static let maxResponseBytes = ClientToolLimits.resultBytes + (1 << 20)

    private let endpoint: HTTPEndpoint
    private let token: @Sendable () -> String?
    private let timeout: Duration
    private let room = Room()
    private let tls: any TLSProvider

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - url: where events are posted: `https://`, or `http://` on this machine.
    ///   - timeout: the time for the events of one call, 10 s by default; the indicator takes a quarter of
    ///     it at most.
    ///   - tls: the provider of TLS for https.
    ///   - token: returns the token that is sent as `Authorization: Bearer`; called for each event.
    /// - Throws: `ClientError` of the kind `.invalidRequest` for a URL that cannot be used.
    public init(
        url: String, timeout: Duration = .seconds(10), tls: any TLSProvider = OpenSSLProvider.system,
        token: @escaping @Sendable () -> String? = { nil }
    ) throws(ClientError) {
        endpoint = try HTTPEndpoint(url: url)
        guard endpoint.isConfidential else {
            throw ClientError(
                .invalidRequest, "\(url): events would be sent over a network without encryption",
                hint: "use https://")
        }
        self.timeout = timeout
        self.tls = tls
        self.token = token
    }

    /// The number of requests in progress.
    private final class Room: Sendable {
        private let count = Mutex(0)

        func enter() -> Bool {
            count.withLock { count in
                guard count < maxRequests else { return false }
                count += 1
                return true
            }
        }

        func leave() { count.withLock { $0 -= 1 } }
    }

    /// Passes the events of one call on, the invocation last.
    func pass(_ events: [ByteSlice], ofCallTo name: String) async -> ProviderLink.Outcome {
        guard room.enter() else {
            return .failed("the backend is already working on \(Self.maxRequests) calls. Nothing was done")
        }
        defer { room.leave() }
        guard let invocation = events.last else { return .failed("there is nothing to pass on") }
        // Without the indicator, the call is still worth making.
        let start = ContinuousClock.now
        for event in events.dropLast() { _ = try? await post(event, within: timeout / 4) }
        do throws(ClientError) {
            let response = try await post(invocation, within: timeout - (ContinuousClock.now - start))
            guard (200 ..< 300).contains(response.status) else {
                return .failed("the backend refused the invocation with HTTP \(response.status)")
            }
            let body = ByteSlice(response.body)
            let json = try? JSONValue(parsing: body)
            if json == nil, body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
                return .failed("the response of the backend is damaged; the client may have acted")
            }
            guard let result = json?["result"] else {
                return .result(StreamChatEvent.dispatched(name))
            }
            guard RawJSON(result).bytes.count <= ClientToolLimits.resultBytes,
                let result = try? CallToolResult(json: result)
            else { return .failed("the result of the backend is malformed or has more than 10 MB") }
            return .result(result)
        } catch {
            return .failed("\(error.message); it is not known whether the client received the invocation")
        }
    }

    private func post(
        _ event: ByteSlice, within timeout: Duration
    ) async throws(ClientError) -> HTTPFetch.Response {
        var fields = HeaderFields()
        fields.append(sanitizing: "Content-Type", "application/json")
        fields.append(sanitizing: "Accept", "application/json")
        if let token = token() {
            do {
                try fields.append("Authorization", "Bearer \(token)")
            } catch {
                throw ClientError(.invalidRequest, "the token of the backend cannot be sent")
            }
        }
        var fetch = HTTPFetch(
            endpoint, connectTimeout: timeout, timeout: timeout, maxBodyBytes: Self.maxResponseBytes)
        fetch.tls = tls
        return try await fetch.send(fields, body: event.array)
    }
}
