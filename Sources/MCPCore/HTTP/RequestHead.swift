/// The head of a request: small numbers that point into the bytes it was parsed from.
///
/// Accessors take the bytes that the parser was given (from the first byte of the head on), as a slice.
struct RequestHead: Sendable {
    /// The fields whose place is noted while parsing.
    enum Field: UInt8, Sendable, CaseIterable {
        case host, origin, contentType, accept, authorization
        case mcpProtocolVersion, mcpMethod, mcpName, mcpSessionID, lastEventID
    }

    var method = HTTPMethod.other
    var version = HTTPVersion.http11
    /// Whether the connection may serve another request afterwards (RFC 9112, section 9.3). Never with
    /// HTTP/1.0.
    var keepAlive = true
    var isChunked = false
    /// The client waits for 100 (Continue) before it sends the body.
    var expectsContinue = false
    /// Whether any field name begins with `Mcp-Param-`.
    var hasMCPParams = false
    private var repeatedFields: UInt16 = 0

    /// The value of Content-Length, or nil.
    var contentLength: Int?
    /// Bytes of the whole head, the empty line included; the body follows.
    var byteCount = 0

    var methodRange = HeadPart()
    /// The whole target.
    var target = HeadPart()
    /// The target up to `?`; in absolute form what follows the authority. Empty for `OPTIONS *` and CONNECT.
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

    /// Whether bytes of a body follow the head.
    var hasBody: Bool { isChunked || (contentLength ?? 0) > 0 }

    /// Whether the field occurred more than once. Its value is that of the first occurrence.
    @inline(__always)
    // Small: the number of a field; a shift never traps.
    func isRepeated(_ field: Field) -> Bool { repeatedFields & (1 << UInt16(field.rawValue)) != 0 }

    /// Where the value of a field stands, or nil if the field is absent. The range is empty for an empty
    /// value.
    @inline(__always)
    func range(_ field: Field) -> Range<Int>? {
        let part = self[field]
        return part.isPresent ? part.range : nil
    }

    /// The value of a field without surrounding whitespace, or nil if the field is absent.
    @inline(__always)
    func value(_ field: Field, in bytes: ByteSlice) -> ByteSlice? { range(field).map { bytes[$0] } }

    /// The target up to its query.
    @inline(__always)
    func path(in bytes: ByteSlice) -> ByteSlice { bytes[path.range] }

    /// The query behind `?`, or nil.
    func query(in bytes: ByteSlice) -> ByteSlice? {
        let (whole, start) = (target.range, path.range.upperBound)
        guard path.isPresent, start < whole.upperBound else { return nil }
        return bytes[start + 1 ..< whole.upperBound]
    }

    /// Notes where the value of a field stands; the first occurrence counts.
    @inline(__always)
    mutating func note(_ field: Field, _ value: Range<Int>) {
        if self[field].isPresent {
            // Small: the number of a field; a shift never traps.
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
            }
        }
    }
}
