/// Who answers the questions of a handler.
///
/// A stateless request is answered with the questions and starts again with the answers (`InputRounds`); a
/// client of a handshake revision is asked by requests of the server while the handler waits
/// (`ServerQuestions`); a task keeps its questions until they are answered.
protocol InputSource: AnyObject, Sendable {
    /// The answers to all requests, by their keys.
    ///
    /// - Throws: `InputPending` when the call starts again with the answers, `CancellationError` when nobody
    ///   will answer any more, `MCPError` when the client failed.
    func ask(_ requests: [String: InputRequest]) async throws -> [String: JSONValue]
}

/// Ends a handler whose answers are not there yet: the call starts again once they are.
struct InputPending: Error, CustomStringConvertible {
    var description: String { "the answer is not there yet; the call starts again when it is" }
}
