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

    /// Returns a 405 response that lists the allowed methods.
    static func notAllowed(_ text: String, allow: String) -> EarlyResponse {
        EarlyResponse(status: 405, text: text, fields: try? HeaderFields(["Allow": allow]))
    }
}
