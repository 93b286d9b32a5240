/// Hosts that are spelled in other ways: RFC 3986, section 6.2.3, and what libraries for URLs do.
extension URISpelling {
    private static let webPorts: [(scheme: String, port: UInt16)] = [
        ("http", 80), ("https", 443), ("ws", 80), ("wss", 443), ("ftp", 21),
    ]

    private static func webPort(ofScheme scheme: some Collection<UInt8>) -> UInt16? {
        webPorts.first { ASCII.equalsIgnoringCase(scheme, $0.scheme.utf8) }?.port
    }

    private static func isEndOfHost(_ byte: UInt8) -> Bool { #"/\?#"#.utf8.contains(byte) }

    /// Returns a short text with its host as libraries write it: without an empty port, and on the web in
    /// lower case, without the usual port, and in a URI with a slash behind it.
    static func withUsualHost(_ short: [UInt8], isPattern: Bool) -> [UInt8] {
        guard let colon = short.firstIndex(of: UInt8(ascii: ":")) else { return short }
        let webPort = webPort(ofScheme: short[..<colon])
        let authority = short[(colon + 1)...].prefix { !isEndOfHost($0) }
        var host = Array(authority)
        if webPort != nil { host = host.map(ASCII.lowercased) }
        let bracket = host.lastIndex(of: UInt8(ascii: "]")) ?? 0
        if let mark = host[bracket...].lastIndex(of: UInt8(ascii: ":")) {
            let digits = host[(mark + 1)...]
            if digits.isEmpty {
                host.removeSubrange(mark...)
            } else if let webPort, digits.allSatisfy(ASCII.isDigit) {
                let port = digits.drop { $0 == UInt8(ascii: "0") }
                let isUsual = port.elementsEqual(String(webPort).utf8)
                host.replaceSubrange((isUsual ? mark : mark + 1)..., with: isUsual ? [] : Array(port))
            }
        }
        let rest = short[authority.endIndex...]
        let needsSlash = webPort != nil && !isPattern && !host.isEmpty && rest.first != UInt8(ascii: "/")
        return short[...colon] + host + (needsSlash ? [UInt8(ascii: "/")] : []) + rest
    }

    /// The host of a URI of the web or of a file, with all in front of it; nil for other URIs.
    private static func webHost(_ uri: String) -> (whole: [UInt8], host: ArraySlice<UInt8>, isOpen: Bool)? {
        let bytes = Array(uri.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = bytes[..<colon]
        var rest = bytes[(colon + 1)...]
        if webPort(ofScheme: scheme) != nil {
            rest = rest.drop { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        } else if ASCII.equalsIgnoringCase(scheme, "file".utf8), rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
        } else {
            return nil
        }
        let host = rest.prefix { !isEndOfHost($0) }
        return (Array(bytes[..<host.endIndex]), host, host.endIndex == bytes.endIndex)
    }

    /// Returns a URI up to the end of its host if that has other spellings which only IDNA tells to be the
    /// same: it has letters outside ASCII, as they are, encoded, or as `xn--`.
    static func internationalHost(_ uri: String) -> [UInt8]? {
        guard let (whole, host, _) = webHost(uri) else { return nil }
        let isInternational =
            host.contains { $0 >= 0x80 || $0 == UInt8(ascii: "%") }
            || host.split { ".@".utf8.contains($0) }.contains { label in
                label.count >= 4 && ASCII.equalsIgnoringCase(label.prefix(4), "xn--".utf8)
            }
        return isInternational ? whole : nil
    }

    /// Whether a text may go on to any host.
    static func hasOpenHost(beginning: String) -> Bool { webHost(beginning)?.isOpen ?? false }
}
