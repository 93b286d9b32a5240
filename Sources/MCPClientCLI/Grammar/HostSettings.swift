import MCPCore

/// What the flags of `host` say about the page.
struct HostSettings: Sendable {
    enum Theme: String, Sendable, CaseIterable { case auto, light, dark }

    var port: UInt16 = 0
    var sandboxPort: UInt16 = 0
    var theme = Theme.auto
    var hasModel = false
    /// The hosts that the address of a server may name; nil: all.
    var allowedHosts: [String]?
}
