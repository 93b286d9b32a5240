/// The reason why a message is not served, with everything that its response needs.
///
/// One table maps a refusal to its HTTP status (Table 1 of the requirements); the JSON-RPC code is part of
/// the error.
struct Refusal: Error, Sendable {
    var error: MCPError
    /// The HTTP status in the modern era.
    var status: Int

    init(_ error: MCPError, status: Int? = nil) {
        self.error = error
        self.status = status ?? Self.status(for: error.code)
    }

    /// Returns the HTTP status for an error code. Errors without a row of their own are sent with 200, so
    /// that clients do not mistake them for transport failures (AMB-4).
    static func status(for code: Int) -> Int {
        switch code {
        case MCPError.parseErrorCode, MCPError.invalidRequestCode: 400
        case MCPError.methodNotFoundCode: 404
        case MCPError.headerMismatchCode, MCPError.missingClientCapabilityCode,
            MCPError.unsupportedProtocolVersionCode:
            400
        case MCPError.overloadedCode: 503
        // Not 503: that invites clients to send the request again.
        case MCPError.interruptedCode: 500
        default: 200
        }
    }

    static func headerMismatch(_ text: String) -> Refusal {
        Refusal(MCPError(code: MCPError.headerMismatchCode, message: text))
    }

    static func missingMeta(_ text: String) -> Refusal {
        Refusal(.invalidParams(text), status: 400)
    }

    static func unsupportedVersion(_ requested: JSONValue) -> Refusal {
        // Modern revisions come first: only they may be named in `_meta` (AMB-9).
        let supported = ProtocolVersion.known.map { JSONValue.string($0.text) }
        return Refusal(
            MCPError(
                code: MCPError.unsupportedProtocolVersionCode,
                message: "This protocol version is not supported",
                data: .object(["supported": .array(supported), "requested": requested])))
    }
}
