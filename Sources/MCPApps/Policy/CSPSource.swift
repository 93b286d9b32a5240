/// One source of a policy, as written by a server or the user: `scheme://host[:port][/path]`, a host that
/// starts with `*.`, or `scheme:` (CSP Level 3, section 2.3.1).
///
/// Characters that have a meaning in a header, such as `;`, `,`, quotes and spaces, are never part of a
/// source.
struct CSPSource: Sendable, Hashable {
    /// The longest source: 255 bytes.
    static let maxBytes = 255

    /// The scheme, in lower case; nil if the source contains none.
    let scheme: String?
    /// The host, in lower case and without a leading `*.`; empty for every host, nil for a scheme alone.
    let host: String?
    /// Whether the source covers the host's subdomains, and not the host itself.
    let isWildcard: Bool
    /// The port, as digits or `*`; nil if the source contains none.
    let port: String?
    let path: String

    /// The source as it appears in the policy.
    var text: String {
        guard let host else { return "\(scheme ?? ""):" }
        var text = scheme.map { "\($0)://" } ?? ""
        text += host.isEmpty ? "*" : isWildcard ? "*.\(host)" : host
        if let port { text += ":\(port)" }
        return text + path
    }

    /// The schemes that refer only to the page itself.
    private static let localSchemes: Set<String> = ["data", "blob", "filesystem", "mediastream"]

    /// Whether the source gives access to the network.
    var isExternal: Bool { host != nil || !Self.localSchemes.contains(scheme ?? "") }

    /// Whether the source covers an unlimited number of hosts: `*`, `https:`, `https://*`, `*.com`.
    var isUnbounded: Bool {
        guard let host else { return isExternal }
        return host.isEmpty || (isWildcard && !host.contains(".") && host != "localhost")
    }

    /// Parses a source; nil when the text is not one.
    /// - Parameter allowsBareHosts: whether `example.com` and `*` are accepted, as users write domains.
    init?(_ text: String, allowsBareHosts: Bool = false) {
        guard text.utf8.count <= Self.maxBytes, text.utf8.allSatisfy(Self.isSourceByte) else { return nil }
        var rest = text[...]
        var scheme: String?
        if let colon = rest.firstIndex(of: ":"), Self.isScheme(rest[..<colon]) {
            let behind = rest[rest.index(after: colon)...]
            if behind.isEmpty || behind.hasPrefix("//") {
                scheme = rest[..<colon].lowercased()
                rest = behind.dropFirst(2)
                if behind.isEmpty {
                    (self.scheme, host, isWildcard, port, path) = (scheme, nil, false, nil, "")
                    return
                }
            }
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        let colon = authority.firstIndex(of: ":") ?? authority.endIndex
        let port = colon == authority.endIndex ? nil : String(authority[authority.index(after: colon)...])
        if let port, !Self.isPort(port) { return nil }
        let name = authority[..<colon].lowercased()
        let isWildcard = name.hasPrefix("*.")
        let host = name == "*" ? "" : isWildcard ? String(name.dropFirst(2)) : name
        guard name == "*" || Self.isHost(host),
            scheme != nil || name == "*" || isWildcard || allowsBareHosts
        else { return nil }
        (self.scheme, self.host, self.isWildcard) = (scheme, host, isWildcard)
        (self.port, path) = (port, String(rest[slash...]))
    }

    // MARK: Grammar

    /// Returns whether a byte may occur in a scheme, a host, a port or a path; of the characters that a path
    /// may contain (RFC 3986, 3.3), the quote, the semicolon and the comma are excluded.
    private static func isSourceByte(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "-._~%!$&()*+=:@/".utf8.contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetterOrDigit($0) || "+-.".utf8.contains($0) }
    }

    /// Returns whether the text consists of labels of letters, digits, hyphens and
    /// underscores, which browsers accept.
    private static func isHost(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x5F }
        }
    }

    private static func isPort(_ text: String) -> Bool {
        text == "*" || (text.utf8.allSatisfy(isDigit) && UInt16(text) ?? 0 > 0)
    }
}

/// Comparisons of the hosts that two sources reach.
extension CSPSource {
    /// Returns whether this source, which the user wrote, covers everything that `other` reaches.
    func covers(_ other: CSPSource) -> Bool {
        guard let host else { return scheme == other.scheme }
        if host.isEmpty, scheme == nil, port == nil { return true }
        guard let otherHost = other.host else { return false }
        if let scheme, scheme != other.scheme { return false }
        if let port, port != "*", port != other.port { return false }
        if host.isEmpty { return true }
        if isWildcard { return otherHost.hasSuffix(".\(host)") || (other.isWildcard && otherHost == host) }
        return !other.isWildcard && otherHost == host
    }

    /// Returns whether both sources can reach the same host. The scheme and the path are not compared, since
    /// blocking a host means blocking all of it.
    func meets(_ other: CSPSource) -> Bool {
        guard let host, let otherHost = other.host else {
            // A scheme alone covers every host with that scheme.
            return host != nil || other.scheme == nil || scheme == other.scheme
        }
        if let port, port != "*", let otherPort = other.port, otherPort != "*", port != otherPort {
            return false
        }
        if host.isEmpty || otherHost.isEmpty { return true }
        if host == otherHost { return isWildcard == other.isWildcard }
        return (isWildcard && otherHost.hasSuffix(".\(host)"))
            || (other.isWildcard && host.hasSuffix(".\(otherHost)"))
    }
}
