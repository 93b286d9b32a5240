/// The sources that a host allows views to reach, whatever they declare.
public struct UICSPOptions: Sendable, Hashable {
    /// The modes of the policy: how closely it follows the specification's.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// The specification's own policy.
        case strict
        /// `data:` and `blob:` for images, fonts and media, workers from `blob:`, and WebAssembly: for pages
        /// that were written for other hosts. No additional host can be reached.
        case compat
    }

    /// The mode of the policy; strict by default.
    public var mode: Mode
    /// Whether views may reach the entire network: `*`, `https:`, `*.com`. False by default.
    public var allowsWildcards: Bool
    /// The only domains that views may reach, such as `example.com`, `*.example.com` or
    /// `http://localhost:3000`; nil for all that they declare.
    public var allowedDomains: [String]?
    /// The domains that no view may reach. A source that could reach one of them is omitted entirely.
    public var blockedDomains: [String]

    /// Creates options; the defaults are the strictest that the specification allows.
    public init(
        mode: Mode = .strict, allowsWildcards: Bool = false, allowedDomains: [String]? = nil,
        blockedDomains: [String] = []
    ) {
        self.mode = mode
        self.allowsWildcards = allowsWildcards
        self.allowedDomains = allowedDomains
        self.blockedDomains = blockedDomains
    }
}
