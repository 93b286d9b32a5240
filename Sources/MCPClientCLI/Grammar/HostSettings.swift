import MCPCore

/// The values of the `host` flags that concern the page.
struct HostSettings: Sendable {
    enum Theme: String, Sendable, CaseIterable { case auto, light, dark }

    var port: UInt16 = 0
    var sandboxPort: UInt16 = 0
    /// The colours of the page; nil for those that the user chose last.
    var theme: Theme?
    var hasModel = false
    /// The hosts that a server's address may name; nil allows all.
    var allowedHosts: [String]?
}
