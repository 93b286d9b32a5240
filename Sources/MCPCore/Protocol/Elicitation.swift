/// A question to the user: a form to fill in, or a web page to visit (client/elicitation).
public struct ElicitRequest: RevisionedWireType {
    /// What the user reads.
    public var message: String
    /// The form; nil in URL mode.
    public var schema: ElicitationSchema?
    /// The page; nil in form mode.
    public var url: String?
    /// Names the visit of a page; 2025-11-25 only (ELIC-06).
    public var elicitationID: String?

    /// Asks by a form.
    public init(_ message: String, _ schema: ElicitationSchema) {
        self.message = message
        self.schema = schema
    }

    /// Asks to visit a page (2025-11-25 and later). Secrets are asked this way, never by a form (ELIC-15).
    public init(_ message: String, url: String, elicitationID: String? = nil) {
        self.message = message
        self.url = url
        self.elicitationID = elicitationID
    }

    /// Reads the params; without `mode` it is a form (ELIC-04).
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

/// What the user answered (client/elicitation "Response Actions").
public struct ElicitResult: WireType {
    /// What the user did, as on the wire.
    public struct Action: RawRepresentable, Sendable, Hashable {
        /// The action as on the wire.
        public let rawValue: String
        /// Names an action.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Filled the form in, or agreed to visit the page.
        public static let accept = Action(rawValue: "accept")
        /// Said no.
        public static let decline = Action(rawValue: "decline")
        /// Left without an answer.
        public static let cancel = Action(rawValue: "cancel")
    }

    /// What the user did.
    public var action: Action
    /// What stands in the form; nil unless a form was accepted (ELIC-10).
    public var content: JSONObject?

    /// Makes a result.
    public init(_ action: Action, content: JSONObject? = nil) {
        self.action = action
        self.content = content
    }

    /// The form, filled in.
    public static func accept(_ content: JSONObject) -> ElicitResult {
        ElicitResult(.accept, content: content)
    }
    /// The page may be visited.
    public static let accept = ElicitResult(.accept)
    /// The user said no.
    public static let decline = ElicitResult(.decline)
    /// The user left.
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

    /// The value.
    public var json: JSONValue {
        var object: JSONObject = ["action": .string(action.rawValue)]
        if action == .accept, let content { object["content"] = .object(content) }
        return .object(object)
    }
}
