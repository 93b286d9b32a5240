import Synchronization

/// A server request to a client of a handshake revision, while it waits for its response (JRPC-18).
final class ServerRequest: Sendable {
    let id: RequestID
    let method: String
    private let params: ByteSlice

    private let outcome = OneShot<Result<JSONValue, any Error>>()
    private static let lastNumber = Atomic<Int>(0)
    /// Instances that share sessions ask the same client: their ids must differ.
    private static let prefix = "srv-" + Hex.encode(SystemRandom().bytes(6)) + "-"

    /// - Parameter params: JSON in the form of the client's revision.
    init(method: String, params: ByteSlice) {
        // One sequence of numbers for the whole process: a stray id never matches another request.
        id = RequestID("\(Self.prefix)\(Self.lastNumber.add(1, ordering: .relaxed).newValue)")
        self.method = method
        self.params = params
    }

    /// The encoded request.
    var message: ByteSlice {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.key("id")
        writer.raw(id.json)
        writer.member("method", method)
        writer.key("params")
        writer.raw(RawJSON(unchecked: params))
        writer.endObject()
        return writer.finish()
    }

    /// The notification that withdraws the request (CANC-11).
    var cancellation: ByteSlice {
        RawJSON([
            "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": ["requestId": id.json.value, "reason": "The response is no longer needed"],
        ]).bytes
    }

    /// Ends the wait. Returns whether this call was the first to end it.
    @discardableResult
    func settle(_ result: Result<JSONValue, any Error>) -> Bool { outcome.finish(result) }

    /// Ends the wait with the client's response.
    func settle(with response: Message) {
        if let result = response.raw(response.head.result) {
            settle(.success(result.value))
        } else {
            let error = response.raw(response.head.error)
            var failure = MCPError(
                code: error?["code"]?.int ?? MCPError.internalErrorCode,
                message: error?["message"]?.string ?? "it has no message", data: error?["data"]?.value)
            failure.peerFailure = "The client answered \(method) with an error: \(failure.message)"
            settle(.failure(failure))
        }
    }

    /// Returns the client's result; `settle` ends the wait.
    func result() async throws -> JSONValue { try await outcome.get() }
}

/// The server requests that wait for a response.
///
/// The key contains the connection or the session that the request was sent to: no other
/// client can answer it.
final class ServerRequestTable: Sendable {
    private struct Key: Hashable {
        let channelID: UInt64
        let id: RequestID
    }

    private let calls = Mutex<[Key: ServerRequest]>([:])

    /// The number of waiting requests.
    var count: Int { calls.withLock { $0.count } }

    func insert(_ call: ServerRequest, channelID: UInt64) {
        calls.withLock { $0[Key(channelID: channelID, id: call.id)] = call }
    }

    /// Returns the request that a response belongs to, and removes it from the table.
    func take(_ id: RequestID, channelID: UInt64) -> ServerRequest? {
        calls.withLock { $0.removeValue(forKey: Key(channelID: channelID, id: id)) }
    }
}
