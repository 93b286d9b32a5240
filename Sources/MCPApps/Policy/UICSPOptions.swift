/// What a host allows views to reach, whatever they declare.
public struct UICSPOptions: Sendable, Hashable {
    /// How near the policy is to the specification's.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// The specification's own policy.
        case strict
        /// `data:` and `blob:` for images, fonts and media, workers from `blob:`, WebAssembly: for pages that
        /// were written for other hosts. No further host can be reached.
        case compat
    }

    /// How near the policy is to the specification's: strict.
    public var mode: Mode
    /// Whether views may reach all of the network: `*`, `https:`, `*.com`. False.
    public var allowsWildcards: Bool
    /// The only domains that views may reach, such as `example.com`, `*.example.com` or
    /// `http://localhost:3000`; nil for all that they declare.
    public var allowedDomains: [String]?
    /// Domains that no view may reach. What could reach one of them is left out as a whole.
    public var blockedDomains: [String]

    /// The defaults are the strictest that the specification allows.
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
