import MCPCore

/// The address of a page that a server asks a person to open.
enum PageAddress {
    /// The longest one, in bytes.
    static let maxBytes = 8_192

    /// Whether it is one of a web page: `javascript:`, `file:` and the like would do something else on this
    /// machine, and a word that begins with `-` would be a flag of whatever opens it.
    static func isOne(_ url: String) -> Bool {
        let start = url.prefix(8).lowercased()
        return (start.hasPrefix("http://") || start.hasPrefix("https://")) && url.utf8.count <= maxBytes
            && !url.contains(where: \.isWhitespace) && VisibleText.line(url) == url && !host(of: url).isEmpty
    }

    /// The host, as it is written; empty if there is none.
    static func host(of url: String) -> String {
        let authority = authority(of: url)
        let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        if place.hasPrefix("[") { return String(place.prefix { $0 != "]" }) + "]" }
        return String(place.prefix { $0 != ":" })
    }

    /// What precedes the path; for browsers, a backslash is a slash.
    private static func authority(of url: String) -> Substring {
        guard let start = url.firstRange(of: "://")?.upperBound else { return "" }
        return url[start...].prefix { !"/\\?#".contains($0) }
    }

    /// What a person should know before the page is opened.
    static func cautions(_ url: String) -> [String] {
        var cautions: [String] = []
        let host = host(of: url)
        if host.lowercased().contains("xn--") || !host.utf8.allSatisfy({ $0 < 0x80 }) {
            cautions.append("the host name contains letters of another script")
        }
        if authority(of: url).contains("@") {
            cautions.append("what precedes the @ is a user name, not a host")
        }
        return cautions
    }
}
