public import MCPCore

/// A device feature that a view can be allowed to use (MCP Apps 2026-01-26 "UI Resource Format").
public enum UIPermission: String, Sendable, Hashable, CaseIterable {
    /// The camera.
    case camera
    /// The microphone.
    case microphone
    /// The user's location.
    case geolocation
    /// Writing to the clipboard.
    case clipboardWrite

    /// The name of the feature in the `allow` attribute of a frame (Permissions Policy).
    public var feature: String { self == .clipboardWrite ? "clipboard-write" : rawValue }

    /// The features that browsers let each frame use unless they are denied, and that reach beyond it:
    /// windows over the page, the voice of a screen reader, devices, storage and tokens of other sites,
    /// advertising. All others are denied to frames of other origins.
    package static let deniedFeatures = [
        "picture-in-picture", "aria-notify", "gamepad", "storage-access", "browsing-topics",
        "interest-cohort", "private-state-token-issuance", "private-state-token-redemption",
        "deferred-fetch-minimal", "ch-ua-high-entropy-values",
    ]

    /// The value of the `allow` attribute of both frames, in a fixed order: the permissions, and what is
    /// denied to every view.
    public static func allowAttribute(_ permissions: Set<UIPermission>) -> String {
        let granted = allCases.filter(permissions.contains).map(\.feature)
        return (granted + deniedFeatures.map { "\($0) 'none'" }).joined(separator: "; ")
    }

    /// Reads `{"camera": {}, …}`; unknown names, and values that are not objects, are ignored.
    static func read(_ json: JSONValue?) -> Set<UIPermission> {
        Set(allCases.filter { json?[$0.rawValue]?.objectValue != nil })
    }

    static func json(_ permissions: Set<UIPermission>) -> JSONObject {
        JSONObject(allCases.filter(permissions.contains).map { (key: $0.rawValue, value: [:]) })
    }
}

/// The rights that a view was granted after filtering, as its sandbox enforces them (MCP Apps 2026-01-26
/// "Host Capabilities").
public struct SandboxGrant: Sendable, Hashable {
    /// The tokens of the `sandbox` attribute of both frames. Without `allow-forms`, a view's own submit
    /// handlers never run; the policy prevents forms from being sent.
    public static let tokens = "allow-scripts allow-same-origin allow-forms"

    /// The origins that the view may reach; nil when it names none.
    public var csp: UICSPDomains?
    /// The device features that the view may use.
    public var permissions: Set<UIPermission>

    /// Creates a grant.
    public init(csp: UICSPDomains? = nil, permissions: Set<UIPermission> = []) {
        self.csp = csp
        self.permissions = permissions
    }

    /// The value of `hostCapabilities.sandbox`.
    public var json: JSONObject {
        ["permissions": .object(UIPermission.json(permissions)), "csp": .object(csp?.json ?? [:])]
    }
}
