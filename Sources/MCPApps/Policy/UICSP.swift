/// The Content Security Policy of one view (MCP Apps 2026-01-26 "Security Considerations", CSP Level 3).
///
/// The declarations of a resource are untrusted: an entry that is not an origin, is too broad, or is not
/// allowed, is omitted and listed in `rejected`. At most 50 entries of each list count, of at most 255 bytes
/// each.
public struct UICSP: Sendable, Hashable {
    /// The number of entries of one list that count.
    public static let maxEntries = 50

    /// The domains that remain, for `hostCapabilities.sandbox.csp`; nil when the resource declares none.
    public let granted: UICSPDomains?
    /// The omitted entries, each one once, truncated to 255 bytes and without control characters.
    public let rejected: [String]
    /// The granted sources that give access to the network, each one once; the user is warned about them.
    public let externalDomains: [String]
    /// The mode of the policy: how closely it follows the specification's.
    public let mode: UICSPOptions.Mode

    /// Creates the policy from the declarations of a resource.
    public init(domains: UICSPDomains?, options: UICSPOptions = UICSPOptions()) {
        mode = options.mode
        guard let domains else {
            (granted, rejected, externalDomains) = (nil, [], [])
            return
        }
        var filter = Filter(options)
        granted = UICSPDomains(
            connect: filter.sift(domains.connect), resource: filter.sift(domains.resource),
            frame: filter.sift(domains.frame), baseURI: filter.sift(domains.baseURI))
        rejected = filter.rejected
        externalDomains = filter.external
    }

    /// Returns the value of the header `Content-Security-Policy`.
    /// - Parameter hostOrigin: the origin of the page that may frame the view, `scheme://host[:port]`.
    public func header(hostOrigin: String) -> String {
        let resources = granted?.resource ?? []
        let isCompat = mode == .compat
        let embedded = isCompat ? ["data:", "blob:"] : ["data:"]
        var directives = [
            ["default-src", "'none'"],
            ["script-src", "'self'", "'unsafe-inline'"] + (isCompat ? ["'wasm-unsafe-eval'"] : [])
                + resources,
            ["style-src", "'self'", "'unsafe-inline'"] + resources,
            ["img-src", "'self'"] + embedded + resources,
            ["media-src", "'self'"] + embedded + resources,
        ]
        if granted != nil || isCompat {
            directives.append(["font-src", "'self'"] + (isCompat ? embedded : []) + resources)
        }
        directives += [
            ["connect-src"] + Self.list(granted?.connect, or: "'none'"),
            ["frame-src"] + Self.list(granted?.frame, or: "'none'"),
            ["worker-src", isCompat ? "blob:" : "'none'"],
            ["object-src", "'none'"],
            ["base-uri"] + Self.list(granted?.baseURI, or: "'self'"),
            ["form-action", "'none'"],
            ["frame-ancestors", hostOrigin],
            ["sandbox", SandboxGrant.tokens],
        ]
        return directives.map { Self.unique($0).joined(separator: " ") }.joined(separator: "; ")
    }

    private static func list(_ sources: [String]?, or nothing: String) -> [String] {
        guard let sources, !sources.isEmpty else { return [nothing] }
        return sources
    }

    private static func unique(_ words: [String]) -> [String] {
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }
    }
}

extension UICSP {
    /// The filter for the entries of all lists.
    private struct Filter {
        let allowsWildcards: Bool
        let allowed: [CSPSource]?
        let blocked: [CSPSource]
        var rejected: [String] = []
        var external: [String] = []

        init(_ options: UICSPOptions) {
            allowsWildcards = options.allowsWildcards
            allowed = options.allowedDomains?.compactMap { CSPSource($0, allowsBareHosts: true) }
            blocked = options.blockedDomains.compactMap { CSPSource($0, allowsBareHosts: true) }
        }

        mutating func sift(_ entries: [String]) -> [String] {
            var sources: [String] = []
            for entry in entries {
                guard sources.count < UICSP.maxEntries, let source = CSPSource(entry), isAllowed(source)
                else {
                    reject(entry)
                    continue
                }
                let text = source.text
                guard !sources.contains(text) else { continue }
                sources.append(text)
                if source.isExternal, !external.contains(text) { external.append(text) }
            }
            return sources
        }

        private func isAllowed(_ source: CSPSource) -> Bool {
            if source.isUnbounded, !allowsWildcards { return false }
            guard source.isExternal else { return true }
            if blocked.contains(where: { $0.meets(source) }) { return false }
            return allowed?.contains { $0.covers(source) } ?? true
        }

        private mutating func reject(_ entry: String) {
            guard rejected.count < UICSP.maxEntries else { return }
            var text = ""
            for scalar in entry.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
                guard text.utf8.count + 4 <= CSPSource.maxBytes else { break }
                text.unicodeScalars.append(scalar)
            }
            if !rejected.contains(text) { rejected.append(text) }
        }
    }
}
