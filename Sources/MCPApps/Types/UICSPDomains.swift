public import MCPCore

/// The origins that a view wants to reach, by purpose (MCP Apps 2026-01-26 "UI Resource Format"). They are as
/// the server wrote them: `UICSP` decides which are granted.
public struct UICSPDomains: Sendable, Hashable {
    /// The origins for `fetch`, XMLHttpRequest and WebSocket.
    public var connect: [String]
    /// The origins for scripts, styles, images, media and fonts.
    public var resource: [String]
    /// The origins for frames inside the view.
    public var frame: [String]
    /// The origins for the document's `<base>`.
    public var baseURI: [String]

    /// Creates lists of origins, such as `https://api.example.com` or `https://*.example.com`.
    public init(
        connect: [String] = [], resource: [String] = [], frame: [String] = [], baseURI: [String] = []
    ) {
        self.connect = connect
        self.resource = resource
        self.frame = frame
        self.baseURI = baseURI
    }

    /// Reads the object; a member that is not an array, or an element that is not a string, is ignored.
    public init(json: JSONObject) {
        func texts(_ key: String) -> [String] { json[key]?.arrayValue?.compactMap(\.stringValue) ?? [] }
        connect = texts("connectDomains")
        resource = texts("resourceDomains")
        frame = texts("frameDomains")
        baseURI = texts("baseUriDomains")
    }

    /// The JSON object, without empty lists.
    public var json: JSONObject {
        var object = JSONObject()
        let lists = [
            ("connectDomains", connect), ("resourceDomains", resource), ("frameDomains", frame),
            ("baseUriDomains", baseURI),
        ]
        for (key, list) in lists where !list.isEmpty { object[key] = .array(list.map(JSONValue.string)) }
        return object
    }
}
