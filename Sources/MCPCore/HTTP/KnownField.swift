/// The request fields that the parser recognizes by name.
enum KnownField: UInt8 {
    // In the same order as RequestHead.Field.
    case host, origin, contentType, accept, authorization
    case mcpProtocolVersion, mcpMethod, mcpName, mcpSessionID, lastEventID, traceparent, contentEncoding
    // Fields that frame the message or the connection.
    case contentLength, transferEncoding, connection, expect
    case mcpParam, other

    /// The slot in the head for the field's value, or nil if it has none.
    var field: RequestHead.Field? { @inline(__always) get { RequestHead.Field(rawValue: rawValue) } }

    /// Recognizes the name at `name`, first by its length and then by comparing eight bytes at a time.
    @inline(__always)
    init(_ view: ByteView, _ name: Range<Int>) {
        let start = name.lowerBound
        switch name.count {
        case 4 where view.hasName("host", at: start): self = .host
        case 6 where view.hasName("accept", at: start): self = .accept
        case 6 where view.hasName("origin", at: start): self = .origin
        case 6 where view.hasName("expect", at: start): self = .expect
        case 8 where view.hasName("mcp-name", at: start): self = .mcpName
        case 10 where view.hasName("mcp-method", at: start): self = .mcpMethod
        case 10 where view.hasName("connection", at: start): self = .connection
        case 11 where view.hasName("traceparent", at: start): self = .traceparent
        case 12 where view.hasName("content-type", at: start): self = .contentType
        case 13 where view.hasName("authorization", at: start): self = .authorization
        case 13 where view.hasName("last-event-id", at: start): self = .lastEventID
        case 14 where view.hasName("content-length", at: start): self = .contentLength
        case 14 where view.hasName("mcp-session-id", at: start): self = .mcpSessionID
        case 16 where view.hasName("content-encoding", at: start): self = .contentEncoding
        case 17 where view.hasName("transfer-encoding", at: start): self = .transferEncoding
        case 20 where view.hasName("mcp-protocol-version", at: start): self = .mcpProtocolVersion
        case 10... where view.hasName("mcp-param-", at: start): self = .mcpParam
        default: self = .other
        }
    }
}
