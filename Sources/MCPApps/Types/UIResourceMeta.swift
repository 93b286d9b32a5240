public import MCPCore

/// The requests of a view: `_meta.ui` of its resource (MCP Apps 2026-01-26 "UI Resource Format").
public struct UIResourceMeta: Sendable, Hashable {
    /// The origins that it wants to reach; nil when it specifies none.
    public var csp: UICSPDomains?
    /// The device features that it wants to use.
    public var permissions: Set<UIPermission>
    /// The origin that it requests, in the host's own format.
    public var domain: String?
    /// Whether it wants a border and a background; nil leaves that to the host.
    public var prefersBorder: Bool?

    /// Creates metadata; by default, it requests nothing.
    public init(
        csp: UICSPDomains? = nil, permissions: Set<UIPermission> = [], domain: String? = nil,
        prefersBorder: Bool? = nil
    ) {
        self.csp = csp
        self.permissions = permissions
        self.domain = domain
        self.prefersBorder = prefersBorder
    }

    /// Reads `_meta.ui`. A value of the wrong type is ignored, as if it were missing, and then requests
    /// nothing.
    public init(json: JSONValue) {
        csp = json["csp"].flatMap { $0.objectValue.map(UICSPDomains.init(json:)) }
        permissions = UIPermission.read(json["permissions"])
        domain = json["domain"]?.stringValue
        prefersBorder = json["prefersBorder"]?.boolValue
    }

    /// The object as it appears in `_meta.ui`; empty when nothing is requested.
    public var json: JSONObject {
        var object = JSONObject()
        if let csp { object["csp"] = .object(csp.json) }
        if !permissions.isEmpty { object["permissions"] = .object(UIPermission.json(permissions)) }
        if let domain { object["domain"] = .string(domain) }
        if let prefersBorder { object["prefersBorder"] = .bool(prefersBorder) }
        return object
    }
}
