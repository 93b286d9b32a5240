import MCPCore

/// An address that a browser may be sent to.
package enum WebAddress {
    /// Returns whether the address uses http or https, has at most 8 KiB, contains only characters that are
    /// allowed in an address, and has a host and a port that a browser opens.
    static func isOne(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", url.utf8.count <= 8_192,
            url.dropFirst(scheme.count).hasPrefix("://"),
            url.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { return false }
        let host = host(of: url)
        return !host.isEmpty && hasPort(url) && WebHost(host) != nil
    }

    /// The host of an address with `://`, as it is written; empty if there is none.
    package static func host(of url: String) -> String {
        let place = place(of: url)
        if place.hasPrefix("[") { return String(place.prefix { $0 != "]" }) + "]" }
        return String(place.prefix { $0 != ":" })
    }

    /// The part of an address between `://` and the path, as browsers divide it: a backslash is a slash.
    private static func authority(of url: String) -> Substring {
        guard let slashes = url.firstRange(of: "://") else { return "" }
        return url[slashes.upperBound...].prefix { !"/\\?#".contains($0) }
    }

    /// The host and the port of an address, without a user name.
    private static func place(of url: String) -> Substring {
        let authority = authority(of: url)
        return authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    }

    /// Whether the address has no port, or one that exists.
    private static func hasPort(_ url: String) -> Bool {
        let place = place(of: url)
        if place.hasPrefix("["), !place.contains("]") { return false }
        let rest = place.utf8.dropFirst(host(of: url).utf8.count)
        guard let colon = rest.first else { return true }
        let digits = rest.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.allSatisfy({ (0x30 ... 0x39).contains($0) }) else {
            return false
        }
        return digits.isEmpty || UInt16(String(Substring(digits))) != nil
    }

    /// Returns what a person should know about an address before it is opened, in words.
    package static func warnings(about url: String) -> [String] {
        var warnings: [String] = []
        if authority(of: url).contains("@") {
            warnings.append("The part before the @ is a user name: the address leads to \(host(of: url)).")
        }
        let written = host(of: url).lowercased()
        if let host = WebHost(written) {
            if host.name != written {
                warnings.append("A browser reads \(written) as \(host.name).")
            }
            if let place = host.place { warnings.append("It leads to \(place).") }
        }
        let isForeign = written.split(separator: ".").contains { $0.hasPrefix("xn--") }
        if isForeign || !written.utf8.allSatisfy({ $0 < 0x80 }) {
            warnings.append("The name \(written) contains letters that can look like others.")
        }
        if url.lowercased().hasPrefix("http:") { warnings.append("The connection is not encrypted.") }
        return warnings
    }
}
