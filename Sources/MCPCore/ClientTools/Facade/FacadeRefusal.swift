/// A refused request of the façade: a status, and a body of the shape that Stream's clients read.
struct FacadeRefusal: Error, Hashable {
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

    static let invalidJSON = FacadeRefusal(400, "Invalid JSON")
    static let missingChannel = FacadeRefusal(400, "Missing or invalid channel_id")
    static let missingTools = FacadeRefusal(400, "Missing or invalid tools array")
    static let invalidChannel = FacadeRefusal(400, "Invalid channel_id")
    static let tooManyTools = FacadeRefusal(400, "Too many tools")
    static let tooManyRegistrations = FacadeRefusal(429, "Too many registrations, try again later")
    static let tooManyListeners = FacadeRefusal(429, "Too many listeners in this channel")
    static let invalidResult = FacadeRefusal(400, "Missing or invalid result")
    static let unknownInvocation = FacadeRefusal(404, "Unknown invocation")
}
