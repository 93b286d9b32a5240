/// An error as it travels in a JSON-RPC error response (MCP 2026-07-28 basic/index "Error Codes").
///
/// A handler throws it to answer with exactly this code; any other error thrown by a tool becomes an
/// `isError` result. The client throws it when a server answers with an error.
public struct MCPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The JSON-RPC code. Codes of your own lie outside -32768 ... -32000.
    public var code: Int
    /// One concise sentence.
    public var message: String
    /// Details of any shape.
    public var data: JSONValue?
    /// What the client was asked when it answered with this error; nil for errors of the server itself.
    ///
    /// Such an error is not the answer to the request that was being served: there its code would mean
    /// something else.
    var askedMethod: String?

    /// Makes an error with a code of your choice.
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

    /// What the answer to the request says when a handler lets an error of its client pass.
    var peerFailure: String? {
        askedMethod.map { "Invalid response from the client to \($0): \(message)" }
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
    /// HTTP headers and body of a request differ (2026-07-28).
    public static let headerMismatchCode = -32020
    /// The request needs a capability that the client did not declare (2026-07-28).
    public static let missingClientCapabilityCode = -32021
    /// The protocol version is not served (2026-07-28).
    public static let unsupportedProtocolVersionCode = -32022
    /// The server has too much to do and did not begin; try again later. A code of this library, outside the
    /// reserved ranges.
    public static let overloadedCode = 503
    /// The request took longer than the server allows. A code of this library, outside the reserved ranges.
    public static let deadlineExceededCode = 504
    /// The server stopped while it served the request, which may have had an effect. A code of this library,
    /// outside the reserved ranges.
    public static let interruptedCode = 520

    /// -32700 with a reason.
    public static func parseError(_ message: String) -> MCPError {
        MCPError(code: parseErrorCode, message: message)
    }
    /// -32600 with a reason.
    public static func invalidRequest(_ message: String) -> MCPError {
        MCPError(code: invalidRequestCode, message: message)
    }
    /// -32601 for a method name.
    public static func methodNotFound(_ method: String) -> MCPError {
        MCPError(code: methodNotFoundCode, message: "Method not found: \(method)")
    }
    /// -32602 with a reason.
    public static func invalidParams(_ message: String, data: JSONValue? = nil) -> MCPError {
        MCPError(code: invalidParamsCode, message: message, data: data)
    }
    /// -32603 with a reason that tells the peer nothing of your internals.
    public static func internalError(_ message: String = "Internal error") -> MCPError {
        MCPError(code: internalErrorCode, message: message)
    }
    /// 520: what the server does, and what that means for a request that had begun.
    static func interrupted(_ text: String) -> MCPError {
        MCPError(code: interruptedCode, message: "\(text); the request had begun and may have had an effect")
    }
    /// The resource does not exist; the code fits the revision of the request when it is sent.
    public static func resourceNotFound(_ uri: String) -> MCPError {
        MCPError(
            code: legacyResourceNotFoundCode, message: "Resource not found",
            data: .object(["uri": .string(uri)]))
    }
}

/// Thrown by a tool to answer with an `isError` result whose text the model can act on.
public struct ToolError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong, in words for the model.
    public var description: String

    /// Makes an error with this text.
    public init(_ text: String) { description = text }
}
