/// The head of a response, stored as offsets into the bytes it was parsed from.
struct ResponseHead: Sendable {
    /// The fields whose position is recorded during parsing.
    enum Field: UInt8, Sendable, CaseIterable {
        case contentType, contentEncoding, location, wwwAuthenticate, retryAfter, mcpSessionID, keepAlive
    }

    /// The way in which the end of the body is indicated (RFC 9112, section 6.3).
    enum Body: Sendable, Hashable {
        case none
        case length(Int)
        case chunked
        /// The body ends when the connection does.
        case untilClose
    }

    var status = 0
    var version = HTTPVersion.http11
    /// Whether the connection may carry another request after this response.
    var keepAlive = true
    var body = Body.none
    /// The length of the head and of the 1xx heads before it, in bytes; the body follows.
    var byteCount = 0
    /// The offset at which this head begins, after the 1xx heads.
    var start = 0

    private var contentType = HeadPart()
    private var contentEncoding = HeadPart()
    private var location = HeadPart()
    private var wwwAuthenticate = HeadPart()
    private var retryAfter = HeadPart()
    private var mcpSessionID = HeadPart()
    private var keepAliveField = HeadPart()

    /// Returns the value of a field without surrounding whitespace, or nil if the field is absent. If the
    /// field is repeated, the first one counts.
    func value(_ field: Field, in bytes: ByteSlice) -> ByteSlice? {
        let part = self[field]
        return part.isPresent ? bytes[part.range] : nil
    }

    /// Returns the values of all fields called `name`, ignoring case, in order.
    func values(named name: String, in bytes: ByteSlice) -> [ByteSlice] {
        var found: [ByteSlice] = []
        forEachField(in: bytes) { if ASCII.equalsIgnoringCase($0, name.utf8) { found.append($1) } }
        return found
    }

    /// Calls `body` with the name and the value of each field line, in order.
    func forEachField(in bytes: ByteSlice, _ body: (_ name: ByteSlice, _ value: ByteSlice) -> Void) {
        bytes[0 ..< byteCount].forEachField(behind: start, body)
    }

    mutating func note(_ field: Field, _ value: Range<Int>) {
        if !self[field].isPresent { self[field] = HeadPart(value) }
    }

    private subscript(field: Field) -> HeadPart {
        get {
            switch field {
            case .contentType: contentType
            case .contentEncoding: contentEncoding
            case .location: location
            case .wwwAuthenticate: wwwAuthenticate
            case .retryAfter: retryAfter
            case .mcpSessionID: mcpSessionID
            case .keepAlive: keepAliveField
            }
        }
        set {
            switch field {
            case .contentType: contentType = newValue
            case .contentEncoding: contentEncoding = newValue
            case .location: location = newValue
            case .wwwAuthenticate: wwwAuthenticate = newValue
            case .retryAfter: retryAfter = newValue
            case .mcpSessionID: mcpSessionID = newValue
            case .keepAlive: keepAliveField = newValue
            }
        }
    }
}
