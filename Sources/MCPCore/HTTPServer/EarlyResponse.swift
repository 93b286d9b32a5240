/// A response that no handler's work precedes: most are refusals.
struct EarlyResponse: Error {
    let status: Int
    var text: String?
    /// The text is JSON.
    var isJSON = false
    /// Any fields beside those of the body.
    var fields: HeaderFields?
    /// The connection closes behind it, whatever the request says.
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

    /// 405 with the methods that are allowed.
    static func notAllowed(_ text: String, allow: String) -> EarlyResponse {
        EarlyResponse(status: 405, text: text, fields: try? HeaderFields(["Allow": allow]))
    }
}
