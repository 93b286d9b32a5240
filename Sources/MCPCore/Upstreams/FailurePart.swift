/// What the protocol defines in a part of a result that reports a failure: names, and words as values.
struct FailurePart: Sendable {
    /// The names of the members.
    let names: Set<String>
    /// The members whose values are words, or lists of words.
    private var words: [String: Set<String>] = [:]
    /// The members that are such parts, or lists of them.
    private(set) var parts: [String: FailurePart] = [:]

    private static let annotations = FailurePart(
        names: ["audience", "priority", "lastModified"], words: ["audience": ["user", "assistant"]])
    private static let icon = FailurePart(
        names: ["src", "mimeType", "sizes", "theme"], words: ["theme": ["light", "dark"]])
    private static let contents = FailurePart(names: ["uri", "mimeType", "text", "blob", "_meta"])
    private static let block = FailurePart(
        names: [
            "type", "text", "data", "mimeType", "resource", "uri", "name", "title", "description", "size",
            "icons", "annotations", "_meta",
        ],
        words: ["type": ["text", "image", "audio", "resource", "resource_link"]],
        parts: ["resource": contents, "icons": icon, "annotations": annotations])
    /// The result of a call.
    static let result = FailurePart(
        names: ["content", "structuredContent", "isError", "resultType", "_meta"],
        words: ["resultType": ["complete"]], parts: ["content": block])

    private static let mediaTypes = [
        "text/", "image/", "audio/", "video/", "application/", "font/", "model/", "multipart/", "message/",
    ]

    /// Whether the value of a member is one that the protocol defines, or a number that it asks for.
    func keeps(_ value: JSONValue, of name: String) -> Bool {
        switch value {
        case .string(let text):
            if name == "mimeType" { return Self.mediaTypes.contains { text.hasPrefix($0) } }
            return words[name]?.contains(text) == true
        case .array(let elements):
            return words[name] != nil && elements.allSatisfy { keeps($0, of: name) }
        case .number: return name == "size" || name == "priority"
        default: return false
        }
    }
}
