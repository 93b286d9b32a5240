/// HTTP for authorization: `HTTPFetcher`, or one that a program supplies.
///
/// It limits time and sizes as the program sees fit, follows no redirect of a POST, and sends no cookies.
public protocol OAuthHTTP: Sendable {
    /// Sends a request and returns the response, whatever its status.
    ///
    /// - Throws: `AuthorizationError` of the kinds `.unreachable` and `.malformed`.
    func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse
}

/// A request for metadata or a token.
public struct OAuthHTTPRequest: Sendable, CustomStringConvertible {
    /// Whether it is a POST; a GET otherwise.
    public let isPost: Bool
    /// The absolute URL.
    public let url: String
    /// The header fields, without those that frame the message.
    public var fields: HeaderFields
    /// The body of a POST.
    public let body: [UInt8]
    /// The values of the form that are secret.
    var secrets: [String] = []

    /// Creates a request for a document.
    public init(get url: String, fields: HeaderFields = HeaderFields()) {
        self.init(isPost: false, url, fields, [])
    }

    /// Creates a request with a form (`application/x-www-form-urlencoded`).
    public init(
        post url: String, form: [(name: String, value: String)], fields: HeaderFields = HeaderFields()
    ) {
        self.init(isPost: true, url, fields, Array(FormCoding.encode(form).utf8))
        self.fields.append(sanitizing: "Content-Type", "application/x-www-form-urlencoded")
        secrets = form.filter { SecretMask.isSecret($0.name) }.map(\.value)
    }

    /// Creates a request with a JSON document.
    public init(post url: String, json: JSONValue, fields: HeaderFields = HeaderFields()) {
        self.init(isPost: true, url, fields, Array(json.serialized().utf8))
        self.fields.append(sanitizing: "Content-Type", "application/json")
    }

    private init(isPost: Bool, _ url: String, _ fields: HeaderFields, _ body: [UInt8]) {
        self.isPost = isPost
        self.url = url
        self.fields = fields
        self.body = body
        self.fields.append(sanitizing: "Accept", "application/json")
    }

    /// The method and the URL; fields and body may contain secrets.
    public var description: String { (isPost ? "POST " : "GET ") + url }
}

/// The response to an `OAuthHTTPRequest`.
public struct OAuthHTTPResponse: Sendable, CustomStringConvertible {
    /// The status.
    public let status: Int
    /// The header fields.
    public let fields: HeaderFields
    /// The body.
    public let body: [UInt8]

    /// The greatest nesting depth of a JSON document.
    static let maxDepth = 32

    /// Creates a response.
    public init(status: Int, fields: HeaderFields = HeaderFields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The body, if it is one JSON object without repeated names; nil otherwise, also for a page.
    var object: JSONObject? {
        let limits = JSONLimits(maxDepth: Self.maxDepth, maxBytes: body.count)
        guard let raw = try? RawJSON(validating: ByteSlice(body), limits: limits), raw.kind == .object,
            RepeatedNames.first(in: raw) == nil
        else { return nil }
        return raw.value.objectValue
    }

    /// The status; fields and body may contain secrets.
    public var description: String { "HTTP \(status)" }
}

/// The coding of forms and of queries (WHATWG URL, `application/x-www-form-urlencoded`).
enum FormCoding {
    /// Returns the pairs as a form.
    static func encode(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }

    /// Returns one name or value as it appears in a form.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if ASCII.isWord(byte) || byte == ASCII.minus || byte == ASCII.point || byte == 0x2A {
                bytes.append(byte)
            } else if byte == ASCII.space {
                bytes.append(ASCII.plus)
            } else {
                bytes.append(0x25)
                bytes.append(contentsOf: Hex.encode([byte]).uppercased().utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the pairs of a form or a query in order; nil if it is malformed.
    static func decode(_ text: String) -> [(name: String, value: String)]? { QueryMembers.decode(text.utf8) }
}
