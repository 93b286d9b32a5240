public import MCPCore

/// The origins that a view wants to reach, by purpose (MCP Apps 2026-01-26 "UI Resource Format"). They are
/// what the server wrote: `UICSP` decides what is granted.
public struct UICSPDomains: Sendable, Hashable {
    /// For `fetch`, XMLHttpRequest and WebSocket.
    public var connect: [String]
    /// For scripts, styles, images, media and fonts.
    public var resource: [String]
    /// For frames inside the view.
    public var frame: [String]
    /// For the document's `<base>`.
    public var baseURI: [String]

    /// Names origins, such as `https://api.example.com` or `https://*.example.com`.
    public init(
        connect: [String] = [], resource: [String] = [], frame: [String] = [], baseURI: [String] = []
    ) {
        self.connect = connect
        self.resource = resource
        self.frame = frame
        self.baseURI = baseURI
    }

    /// Reads the object; what is no list of texts is passed over.
    public init(json: JSONObject) {
        func texts(_ key: String) -> [String] { json[key]?.arrayValue?.compactMap(\.stringValue) ?? [] }
        connect = texts("connectDomains")
        resource = texts("resourceDomains")
        frame = texts("frameDomains")
        baseURI = texts("baseUriDomains")
    }

    /// The object, without the lists that are empty.
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
