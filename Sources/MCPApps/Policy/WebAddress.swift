import MCPCore

/// An address that a browser may be sent to.
///
/// Addresses are divided by bytes, as browsers do: in Swift, a slash with a combining mark behind it is one
/// character, which is not a slash.
package enum WebAddress {
    /// The longest one: 8 KiB.
    package static let maxBytes = 8_192

    /// Returns whether the address uses http or https, has at most 8 KiB, contains only characters that are
    /// allowed in an address, and has a host and a port that a browser opens.
    package static func isOne(_ url: String) -> Bool {
        guard url.utf8.count <= maxBytes, let start = url.firstRange(of: "://"),
            ["http", "https"].contains(url[..<start.lowerBound].lowercased()),
            url.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { return false }
        let host = host(of: url)
        return !host.isEmpty && hasPort(url) && WebHost(host) != nil
    }

    /// The host of an address with `://`, as it is written; empty if there is none.
    package static func host(of url: String) -> String {
        let place = place(of: url)
        if place.first == UInt8(ascii: "[") {
            return String(Substring(place.prefix { $0 != UInt8(ascii: "]") })) + "]"
        }
        return String(Substring(place.prefix { $0 != UInt8(ascii: ":") }))
    }

    /// Returns whether there is a user name before the host, which readers take for it.
    package static func hasUserName(_ url: String) -> Bool {
        authority(of: url).contains(UInt8(ascii: "@"))
    }

    /// Returns whether a host has letters that can look like others, in whatever form it is written.
    package static func isForeign(_ host: String) -> Bool {
        let labels = host.lowercased().utf8.split(separator: UInt8(ascii: "."))
        return labels.contains { $0.starts(with: "xn--".utf8) } || !host.utf8.allSatisfy { $0 < 0x80 }
            || WebHost(host)?.name.utf8.allSatisfy { $0 < 0x80 } == false
    }

    /// The part of an address between `://` and the path, as browsers divide it: a backslash is a slash.
    private static func authority(of url: String) -> Substring.UTF8View {
        guard let slashes = url.firstRange(of: "://") else { return Substring().utf8 }
        return url[slashes.upperBound...].utf8.prefix { !"/\\?#".utf8.contains($0) }
    }

    /// The host and the port of an address, without a user name.
    private static func place(of url: String) -> Substring.UTF8View {
        let authority = authority(of: url)
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return authority }
        return authority[at...].dropFirst()
    }

    /// Whether the address has no port, or one that exists.
    private static func hasPort(_ url: String) -> Bool {
        let place = place(of: url)
        if place.first == UInt8(ascii: "["), !place.contains(UInt8(ascii: "]")) { return false }
        let rest = place.dropFirst(host(of: url).utf8.count)
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
        if hasUserName(url) {
            warnings.append("The part before the @ is a user name: the address leads to \(host(of: url)).")
        }
        let written = host(of: url).lowercased()
        if let host = WebHost(written) {
            if host.name != written {
                warnings.append("A browser reads \(written) as \(host.name).")
            }
            if let place = host.place { warnings.append("It leads to \(place).") }
        }
        if isForeign(written) {
            warnings.append("The name \(written) contains letters that can look like others.")
        }
        if url.utf8.prefix(5).elementsEqual("http:".utf8, by: { $0 | 0x20 == $1 | 0x20 }) {
            warnings.append("The connection is not encrypted.")
        }
        return warnings
    }
}
