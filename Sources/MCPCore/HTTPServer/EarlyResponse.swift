/// A response that is sent without a handler's work; most are refusals.
struct EarlyResponse: Error {
    let status: Int
    var text: String?
    /// Whether the text is JSON.
    var isJSON = false
    /// The fields in addition to those of the body.
    var fields: HeaderFields?
    /// Whether the connection closes after it, whatever the request specifies.
    var closes = false
    /// Whether the request presented a credential that is wrong, which one address may do only so often.
    var isFailedAttempt = false
    /// The reason, where the status does not tell it.
    var reason: HTTPRefusal.Reason?
    /// The value that was refused.
    var detail: String?
    /// The authenticated caller that was refused, for logs.
    var caller: String?

    init(
        status: Int, text: String? = nil, isJSON: Bool = false, fields: HeaderFields? = nil,
        closes: Bool = false
    ) {
        self.status = status
        self.text = text
        self.isJSON = isJSON
        self.fields = fields
        self.closes = closes
    }

    /// The text of a response to a request without a token that it needs.
    static let tokenIsRequired = "A token is required; send it as \"Authorization: Bearer TOKEN\""

    /// The response to an address that has presented too many wrong credentials.
    static var tooManyAttempts: EarlyResponse {
        var fields = HeaderFields()
        fields.append(sanitizing: "Retry-After", "1")
        fields.append(sanitizing: "Cache-Control", "no-store")
        return EarlyResponse(
            status: 429, text: "Too many wrong tokens from this address; try again later", fields: fields)
    }

    /// The text of the response to a request whose body is compressed.
    static let bodyIsCoded = "The body must not be compressed; send it without Content-Encoding"

    /// Whether a value of `Content-Encoding` says that nothing was done to the body.
    static func isPlain(_ coding: some Collection<UInt8>) -> Bool {
        coding.isEmpty || ASCII.equalsIgnoringCase(coding, "identity".utf8)
    }

    /// The response to a request whose body is compressed, which says that none may be (RFC 9110, section
    /// 12.5.3).
    static var coded: EarlyResponse {
        var fields = HeaderFields()
        fields.append(sanitizing: "Accept-Encoding", "identity")
        return EarlyResponse(status: 415, text: bodyIsCoded, fields: fields)
    }

    /// Returns a 405 response that lists the allowed methods.
    static func notAllowed(_ text: String, allow: String) -> EarlyResponse {
        EarlyResponse(status: 405, text: text, fields: try? HeaderFields(["Allow": allow]))
    }
}
