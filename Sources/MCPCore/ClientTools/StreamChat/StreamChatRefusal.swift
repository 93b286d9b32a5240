/// A refused request of the façade: a status, and a body in the form that Stream's clients expect.
struct StreamChatRefusal: Error, Hashable {
    let status: Int
    let body: JSONValue

    init(_ status: Int, _ error: String) {
        self.status = status
        body = ["error": .string(error)]
    }

    init(invalidTools: [String]) {
        status = 400
        body = [
            "error": "No valid tools provided",
            "invalid_tools": .array(invalidTools.map(JSONValue.string)),
        ]
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
