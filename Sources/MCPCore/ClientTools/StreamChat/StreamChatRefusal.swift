/// A refused request of the façade: a status, and a body in the form that Stream's clients expect.
struct StreamChatRefusal: Error, Hashable {
    let status: Int
    let body: JSONValue

    init(_ status: Int, _ error: String) {
        self.status = status
        body = ["error": .string(error)]
    }

    init(refused: [ClientToolReport.Refusal]) {
        status = 400
        var body: JSONObject = ["error": "No valid tools provided"]
        Self.add(refused, to: &body)
        self.body = .object(body)
    }

    /// Names what was refused: in `invalid_tools` as Stream's endpoint does, and in `refused` with the
    /// reasons.
    static func add(_ refused: [ClientToolReport.Refusal], to body: inout JSONObject) {
        if refused.isEmpty { return }
        body["invalid_tools"] = .array(refused.map { .string($0.name) })
        body["refused"] = ClientToolReport.json(refused)
    }

    static let invalidJSON = StreamChatRefusal(400, "Invalid JSON")
    static let missingChannel = StreamChatRefusal(400, "Missing or invalid channel_id")
    static let missingTools = StreamChatRefusal(400, "Missing or invalid tools array")
    static let invalidChannel = StreamChatRefusal(400, "Invalid channel_id")
    static let tooManyTools = StreamChatRefusal(400, "Too many tools")
    static let tooManyRegistrations = StreamChatRefusal(429, "Too many registrations, try again later")
    static let tooManyListeners = StreamChatRefusal(429, "Too many listeners in this channel")
    static let invalidResult = StreamChatRefusal(400, "Missing or invalid result")
    static let unknownInvocation = StreamChatRefusal(404, "Unknown invocation")
}
