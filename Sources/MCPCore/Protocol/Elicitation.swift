/// A question to the user: a form to fill in, or a web page to visit (client/elicitation).
public struct ElicitRequest: RevisionedWireType {
    /// The message for the user.
    public var message: String
    /// The schema of the form; nil in URL mode.
    public var schema: ElicitationSchema?
    /// The URL of the page; nil in form mode.
    public var url: String?
    /// The identifier of the page visit; 2025-11-25 only (ELIC-06).
    public var elicitationID: String?

    /// Creates a request that shows a form.
    public init(_ message: String, _ schema: ElicitationSchema) {
        self.message = message
        self.schema = schema
    }

    /// Creates a request to visit a page (2025-11-25 and later). Secrets must be requested this way, never
    /// with a form (ELIC-15).
    public init(_ message: String, url: String, elicitationID: String? = nil) {
        self.message = message
        self.url = url
        self.elicitationID = elicitationID
    }

    /// Reads the params; without `mode`, the request is for a form (ELIC-04).
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "ElicitRequest")
        message = try members.string("message")
        switch try members.optionalString("mode") {
        case nil, "form":
            guard let schema: ElicitationSchema = try members.optional("requestedSchema") else {
                throw JSONError(.missingMember("requestedSchema"), path: "")
            }
            self.schema = schema
        case "url":
            url = try members.string("url")
            elicitationID = try members.optionalString("elicitationId")
        default:
            throw JSONError(
                .typeMismatch(expected: "\"form\" or \"url\"", found: .string), path: "/mode")
        }
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        if revision.has(.elicitationModes) { writer.member("mode", url == nil ? "form" : "url") }
        writer.member("message", message)
        if let url {
            writer.member("url", url)
            if !revision.isModern { writer.member("elicitationId", elicitationID) }
        } else {
            writer.member("requestedSchema", (schema ?? ElicitationSchema([])).json)
        }
        writer.endObject()
    }
}

/// The user's response to a request (client/elicitation "Response Actions").
public struct ElicitResult: WireType {
    /// The user's action.
    public struct Action: RawRepresentable, Sendable, Hashable {
        /// The action as sent on the wire.
        public let rawValue: String
        /// Creates an action from its raw value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The user filled in the form, or agreed to visit the page.
        public static let accept = Action(rawValue: "accept")
        /// The user declined.
        public static let decline = Action(rawValue: "decline")
        /// The user dismissed the request without an answer.
        public static let cancel = Action(rawValue: "cancel")
    }

    /// The user's action.
    public var action: Action
    /// The content of the form; nil unless a form was accepted (ELIC-10).
    public var content: JSONObject?

    /// Creates a result.
    public init(_ action: Action, content: JSONObject? = nil) {
        self.action = action
        self.content = content
    }

    /// Creates a result with the content of an accepted form.
    public static func accept(_ content: JSONObject) -> ElicitResult {
        ElicitResult(.accept, content: content)
    }
    /// The user agreed to visit the page.
    public static let accept = ElicitResult(.accept)
    /// The user declined.
    public static let decline = ElicitResult(.decline)
    /// The user dismissed the request.
    public static let cancel = ElicitResult(.cancel)

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "ElicitResult")
        action = Action(rawValue: try members.string("action"))
        guard [.accept, .decline, .cancel].contains(action) else {
            throw JSONError(
                .typeMismatch(expected: "\"accept\", \"decline\" or \"cancel\"", found: .string),
                path: "/action")
        }
        content = try members.optionalObject("content")
    }

    /// The result as JSON.
    public var json: JSONValue {
        var object: JSONObject = ["action": .string(action.rawValue)]
        if action == .accept, let content { object["content"] = .object(content) }
        return .object(object)
    }
}
