public import MCPCore

/// What a view was granted, after filtering: what its sandbox enforces (MCP Apps 2026-01-26 "Host
/// Capabilities").
public struct SandboxGrant: Sendable, Hashable {
    /// The tokens of the `sandbox` attribute of both frames. Without `allow-forms` a view's own submit
    /// handlers never run; the policy forbids that a form is sent.
    public static let tokens = "allow-scripts allow-same-origin allow-forms"

    /// The origins that it may reach; nil when the view names none.
    public var csp: UICSPDomains?
    /// What it may use of the device.
    public var permissions: Set<UIPermission>

    /// Grants what is named here.
    public init(csp: UICSPDomains? = nil, permissions: Set<UIPermission> = []) {
        self.csp = csp
        self.permissions = permissions
    }

    /// `hostCapabilities.sandbox`.
    public var json: JSONObject {
        ["permissions": .object(UIPermission.json(permissions)), "csp": .object(csp?.json ?? [:])]
    }
}
