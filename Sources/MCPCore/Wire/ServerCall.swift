import Synchronization

/// One request of the server to a client of a handshake revision, while it waits for its answer (JRPC-18).
final class ServerCall: Sendable {
    let id: RequestID
    let method: String
    private let params: ByteSlice

    private enum State {
        case open
        case waiting(CheckedContinuation<JSONValue, any Error>)
        case settled(Result<JSONValue, any Error>)
    }
    private let state = Mutex(State.open)
    private static let lastNumber = Atomic<Int>(0)

    /// - Parameter params: JSON in the words of the client's revision.
    init(method: String, params: ByteSlice) {
        // One row of numbers for the whole process: an id that strays meets nobody else's request.
        id = RequestID("srv-\(Self.lastNumber.add(1, ordering: .relaxed).newValue)")
        self.method = method
        self.params = params
    }

    /// The request.
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

    /// Takes the request back (CANC-11).
    var cancellation: ByteSlice {
        RawJSON([
            "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": ["requestId": id.json.value, "reason": "The answer is not needed any more"],
        ]).bytes
    }

    /// Ends the wait. Returns whether nobody was first.
    @discardableResult
    func settle(_ outcome: Result<JSONValue, any Error>) -> Bool {
        let (isFirst, waiting) = state.withLock {
            state -> (Bool, CheckedContinuation<JSONValue, any Error>?) in
            switch state {
            case .settled: return (false, nil)
            case .open:
                state = .settled(outcome)
                return (true, nil)
            case .waiting(let continuation):
                state = .settled(outcome)
                return (true, continuation)
            }
        }
        waiting?.resume(with: outcome)
        return isFirst
    }

    /// Ends the wait with the client's response.
    func settle(with response: Message) {
        if let result = response.raw(response.head.result) {
            settle(.success(result.value))
        } else {
            let error = response.raw(response.head.error)
            var failure = MCPError(
                code: error?["code"]?.int ?? MCPError.internalErrorCode,
                message: error?["message"]?.string ?? "The client failed", data: error?["data"]?.value)
            failure.askedMethod = method
            settle(.failure(failure))
        }
    }

    /// The client's result. Called once; `settle` ends it in any case.
    func result() async throws -> JSONValue {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state -> Result<JSONValue, any Error>? in
                if case .settled(let outcome) = state { return outcome }
                state = .waiting(continuation)
                return nil
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }
}
