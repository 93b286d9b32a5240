public import MCPCore

/// What a view asks for: `_meta.ui` of its resource (MCP Apps 2026-01-26 "UI Resource Format").
public struct UIResourceMeta: Sendable, Hashable {
    /// The origins that it wants to reach; nil when it says nothing.
    public var csp: UICSPDomains?
    /// What it wants to use of the device.
    public var permissions: Set<UIPermission>
    /// The origin that it wants to have, in the host's own format.
    public var domain: String?
    /// Whether it wants a border and a background; nil leaves that to the host.
    public var prefersBorder: Bool?

    /// Asks for nothing.
    public init(
        csp: UICSPDomains? = nil, permissions: Set<UIPermission> = [], domain: String? = nil,
        prefersBorder: Bool? = nil
    ) {
        self.csp = csp
        self.permissions = permissions
        self.domain = domain
        self.prefersBorder = prefersBorder
    }

    /// Reads `_meta.ui`. What does not fit is passed over, as if it were not there: it asks for nothing then.
    public init(json: JSONValue) {
        csp = json["csp"].flatMap { $0.objectValue.map(UICSPDomains.init(json:)) }
        permissions = UIPermission.read(json["permissions"])
        domain = json["domain"]?.stringValue
        prefersBorder = json["prefersBorder"]?.boolValue
    }

    /// The object as it stands in `_meta.ui`; empty when nothing is asked for.
    public var json: JSONObject {
        var object = JSONObject()
        if let csp { object["csp"] = .object(csp.json) }
        if !permissions.isEmpty { object["permissions"] = .object(UIPermission.json(permissions)) }
        if let domain { object["domain"] = .string(domain) }
        if let prefersBorder { object["prefersBorder"] = .bool(prefersBorder) }
        return object
    }
}
