import MCPCore

/// An address that a browser may be sent to.
package enum WebAddress {
    /// Returns whether the address uses http or https, has at most 8 KiB and contains only characters that
    /// are allowed in an address.
    static func isOne(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", url.utf8.count <= 8_192,
            url.dropFirst(scheme.count).hasPrefix("://"),
            url.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { return false }
        return !host(of: url).isEmpty
    }

    /// The host of an address with `://`, as it is written; empty if there is none.
    package static func host(of url: String) -> String {
        let authority = authority(of: url)
        let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        if place.hasPrefix("[") { return String(place.prefix { $0 != "]" }) + "]" }
        return String(place.prefix { $0 != ":" })
    }

    /// The part of an address between `://` and the path, as browsers divide it: a backslash is a slash.
    private static func authority(of url: String) -> Substring {
        guard let slashes = url.firstRange(of: "://") else { return "" }
        return url[slashes.upperBound...].prefix { !"/\\?#".contains($0) }
    }

    /// Returns what a person should know about an address before it is opened, in words.
    package static func warnings(about url: String) -> [String] {
        var warnings: [String] = []
        if authority(of: url).contains("@") {
            warnings.append("The part before the @ is a user name: the address leads to \(host(of: url)).")
        }
        let host = host(of: url).lowercased()
        let isForeign = host.split(separator: ".").contains { $0.hasPrefix("xn--") }
        if isForeign || !host.utf8.allSatisfy({ $0 < 0x80 }) {
            warnings.append("The name \(host) contains letters that can look like others.")
        }
        if url.lowercased().hasPrefix("http:") { warnings.append("The connection is not encrypted.") }
        return warnings
    }
}
