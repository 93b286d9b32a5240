/// The head of a request, stored as offsets into the bytes it was parsed from.
///
/// The accessors receive the bytes that were passed to the parser (starting with the first byte of the head)
/// as a slice.
struct RequestHead: Sendable {
    /// The fields whose position is recorded during parsing.
    enum Field: UInt8, Sendable, CaseIterable {
        case host, origin, contentType, accept, authorization
        case mcpProtocolVersion, mcpMethod, mcpName, mcpSessionID, lastEventID, traceparent, contentEncoding
    }

    var method = HTTPMethod.other
    var version = HTTPVersion.http11
    /// Whether the connection may serve another request afterwards (RFC 9112, section 9.3). Always false for
    /// HTTP/1.0.
    var keepAlive = true
    var isChunked = false
    /// Whether the client waits for 100 (Continue) before it sends the body.
    var expectsContinue = false
    /// Whether any field name begins with `Mcp-Param-`.
    var hasMCPParams = false
    private var repeatedFields: UInt16 = 0

    /// The value of Content-Length, or nil.
    var contentLength: Int?
    /// The length of the whole head in bytes, including the empty line; the body follows.
    var byteCount = 0

    var methodRange = HeadPart()
    /// The whole target.
    var target = HeadPart()
    /// The target up to `?`; in absolute form, only the part after the authority. Empty for `OPTIONS *` and
    /// CONNECT.
    var path = HeadPart()
    /// The authority of a target in absolute form.
    var authority = HeadPart()

    private var host = HeadPart()
    private var origin = HeadPart()
    private var contentType = HeadPart()
    private var accept = HeadPart()
    private var authorization = HeadPart()
    private var mcpProtocolVersion = HeadPart()
    private var mcpMethod = HeadPart()
    private var mcpName = HeadPart()
    private var mcpSessionID = HeadPart()
    private var lastEventID = HeadPart()
    private var traceparent = HeadPart()
    private var contentEncoding = HeadPart()

    /// Whether a body follows the head.
    var hasBody: Bool { isChunked || (contentLength ?? 0) > 0 }

    /// Whether the field occurred more than once; the value of the first occurrence is used.
    @inline(__always)
    // Small: the raw value of a field; the shift never traps.
    func isRepeated(_ field: Field) -> Bool { repeatedFields & (1 << UInt16(field.rawValue)) != 0 }

    /// Returns the position of a field's value, or nil if the field is absent. The range is empty for an
    /// empty value.
    @inline(__always)
    func range(_ field: Field) -> Range<Int>? {
        let part = self[field]
        return part.isPresent ? part.range : nil
    }

    /// Returns the value of a field without surrounding whitespace, or nil if the field is absent.
    @inline(__always)
    func value(_ field: Field, in bytes: ByteSlice) -> ByteSlice? { range(field).map { bytes[$0] } }

    /// Returns the path of the target, without its query.
    @inline(__always)
    func path(in bytes: ByteSlice) -> ByteSlice { bytes[path.range] }

    /// Returns the query after `?`, or nil.
    func query(in bytes: ByteSlice) -> ByteSlice? {
        let (whole, start) = (target.range, path.range.upperBound)
        guard path.isPresent, start < whole.upperBound else { return nil }
        return bytes[start + 1 ..< whole.upperBound]
    }

    /// Records the position of a field's value; the first occurrence counts.
    @inline(__always)
    mutating func note(_ field: Field, _ value: Range<Int>) {
        if self[field].isPresent {
            // Small: the raw value of a field; the shift never traps.
            repeatedFields |= 1 << UInt16(field.rawValue)
        } else {
            self[field] = HeadPart(value)
        }
    }

    subscript(field: Field) -> HeadPart {
        @inline(__always) get {
            switch field {
            case .host: host
            case .origin: origin
            case .contentType: contentType
            case .accept: accept
            case .authorization: authorization
            case .mcpProtocolVersion: mcpProtocolVersion
            case .mcpMethod: mcpMethod
            case .mcpName: mcpName
            case .mcpSessionID: mcpSessionID
            case .lastEventID: lastEventID
            case .traceparent: traceparent
            case .contentEncoding: contentEncoding
            }
        }
        @inline(__always) set {
            switch field {
            case .host: host = newValue
            case .origin: origin = newValue
            case .contentType: contentType = newValue
            case .accept: accept = newValue
            case .authorization: authorization = newValue
            case .mcpProtocolVersion: mcpProtocolVersion = newValue
            case .mcpMethod: mcpMethod = newValue
            case .mcpName: mcpName = newValue
            case .mcpSessionID: mcpSessionID = newValue
            case .lastEventID: lastEventID = newValue
            case .traceparent: traceparent = newValue
            case .contentEncoding: contentEncoding = newValue
            }
        }
    }
}
