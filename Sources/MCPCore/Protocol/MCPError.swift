/// An error as sent in a JSON-RPC error response (MCP 2026-07-28 basic/index "Error Codes").
///
/// A handler throws it to respond with exactly this code; any other error thrown by a tool becomes an
/// `isError` result. The client throws it when a server responds with an error.
public struct MCPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The JSON-RPC code. Use codes outside -32768 ... -32000 for your own errors.
    public var code: Int
    /// One concise sentence.
    public var message: String
    /// Details of any shape.
    public var data: JSONValue?
    /// The message of the response when a handler rethrows an error that a question to its client has ended
    /// with; nil for the server's own errors.
    ///
    /// Such an error is not the response to the request being served, where its code would have a different
    /// meaning.
    var peerFailure: String?
    /// The scopes that the operation requires, when the caller lacks some of them; nil for other errors. Over
    /// HTTP, the response is then a challenge (AUTH-31).
    var requiredScopes: [String]?

    /// Creates an error with a code of your choice.
    public init(code: Int, message: String, data: JSONValue? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }

    /// Whether code, message and data are the same.
    public static func == (a: MCPError, b: MCPError) -> Bool {
        a.code == b.code && a.message == b.message && a.data == b.data
    }

    /// Hashes code, message and data.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(data)
    }

    /// The code and the message.
    public var description: String { "\(message) (\(code))" }

    /// The text was not JSON.
    public static let parseErrorCode = -32700
    /// The message was not a valid request.
    public static let invalidRequestCode = -32600
    /// The method does not exist, or its capability is not offered.
    public static let methodNotFoundCode = -32601
    /// Parameters are missing or wrong; unknown tool, prompt, cursor; in 2026-07-28 also a missing resource.
    public static let invalidParamsCode = -32602
    /// The server failed.
    public static let internalErrorCode = -32603
    /// A resource does not exist, in revisions before 2026-07-28.
    public static let legacyResourceNotFoundCode = -32002
    /// The HTTP headers and the body of a request do not match (2026-07-28).
    public static let headerMismatchCode = -32020
    /// The request needs a capability that the client did not declare (2026-07-28).
    public static let missingClientCapabilityCode = -32021
    /// The protocol version is not supported (2026-07-28).
    public static let unsupportedProtocolVersionCode = -32022
    /// The server is overloaded and did not start the request; try again later. This code is specific to this
    /// library and outside the reserved ranges.
    public static let overloadedCode = 503
    /// A message of a batch is beyond the rate of its caller, and was not served.
    static let rateExceededCode = 429
    /// The request took longer than the server allows. This code is specific to this library and outside the
    /// reserved ranges.
    public static let deadlineExceededCode = 504
    /// The server stopped while serving the request, which may have had an effect. This code is specific to
    /// this library and outside the reserved ranges.
    public static let interruptedCode = 520

    /// The caller's token does not grant the scopes that the operation requires. This code is specific to
    /// this library and outside the reserved ranges.
    public static let insufficientScopeCode = 403

    /// Creates an error -32700 with a reason.
    public static func parseError(_ message: String) -> MCPError {
        MCPError(code: parseErrorCode, message: message)
    }
    /// Creates an error -32600 with a reason.
    public static func invalidRequest(_ message: String) -> MCPError {
        MCPError(code: invalidRequestCode, message: message)
    }
    /// Creates an error -32601 for a method name.
    public static func methodNotFound(_ method: String) -> MCPError {
        MCPError(code: methodNotFoundCode, message: "Method not found: \(method)")
    }
    /// Creates an error -32602 with a reason.
    public static func invalidParams(_ message: String, data: JSONValue? = nil) -> MCPError {
        MCPError(code: invalidParamsCode, message: message, data: data)
    }
    /// Creates an error -32603 with a reason that reveals nothing about your internals to the peer.
    public static func internalError(_ message: String = "Internal error") -> MCPError {
        MCPError(code: internalErrorCode, message: message)
    }
    /// Creates an error 520 that describes what the server is doing and what that means for a request that
    /// had begun.
    static func interrupted(_ text: String) -> MCPError {
        MCPError(code: interruptedCode, message: "\(text); the request had begun and may have had an effect")
    }
    /// The error 503 of a request that had not begun when the server stopped.
    static let stopping = MCPError(
        code: overloadedCode, message: "The server is stopping; the request had not begun")
    /// Creates an error for a missing resource; its code is adapted to the request's revision when it is
    /// sent.
    public static func resourceNotFound(_ uri: String) -> MCPError {
        MCPError(
            code: legacyResourceNotFoundCode, message: "Resource not found",
            data: .object(["uri": .string(uri)]))
    }
}

/// An error that a tool throws to return an `isError` result whose text the model can act on.
public struct ToolError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A description of the problem, written for the model.
    public var description: String

    /// Creates an error with this text.
    public init(_ text: String) { description = text }
}
