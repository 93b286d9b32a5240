/// What libraries for URLs make of a host (WHATWG URL, sections 3.5 and 4.5; RFC 3986, section 6.2.3).
extension URISpelling {
    /// The schemes whose hosts are looked up in the network and have many spellings, with their usual ports.
    private static let usualPorts = [
        "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21",
    ]

    private static func scheme(_ bytes: [UInt8]) -> String {
        String(decoding: bytes[..<(schemeEnd(bytes) ?? 0)].map(ASCII.lowercased), as: UTF8.self)
    }

    /// The scheme with its colon, in lower case; empty for a name without one.
    var scheme: String { Self.scheme(bytes) }

    private static func isEndOfHost(_ byte: UInt8) -> Bool { #"/\?#"#.utf8.contains(byte) }

    /// Whether the host is spelled as libraries spell it, so that none takes it for another one, and whether
    /// more may follow that belongs to it, if this is the beginning of a URI.
    var host: (isUsual: Bool, isOpen: Bool) {
        let scheme = scheme
        if scheme.isEmpty { return (true, true) }
        if let port = Self.usualPorts[scheme] {
            // With other slashes, and with encoded ones, libraries see a host as well.
            guard let rest = written.dropping(prefix: "\(scheme)//") else {
                return (false, "\(scheme)//".hasPrefix(written))
            }
            let host = Array(rest.utf8.prefix { !Self.isEndOfHost($0) })
            return (Self.isUsual(host[...], port), host.count == rest.utf8.count)
        }
        let rest = bytes.dropFirst(scheme.utf8.count)
        if scheme == "file:", Self.isDrive(rest.drop { $0 == UInt8(ascii: "/") }) { return (false, false) }
        guard rest.starts(with: "//".utf8) else { return (true, "//".utf8.starts(with: rest)) }
        let host = rest.dropFirst(2).prefix { !Self.isEndOfHost($0) }
        let isUsual = scheme == "file:" ? host.isEmpty : Self.isUsual(opaque: host)
        return (isUsual, host.endIndex == bytes.endIndex)
    }

    /// Returns whether a path begins with the letter of a drive and a bar, which libraries make a colon.
    private static func isDrive(_ path: ArraySlice<UInt8>) -> Bool {
        guard let letter = path.first, path.dropFirst().first == UInt8(ascii: "|") else { return false }
        return ASCII.isLetter(letter)
    }

    /// Returns whether a host in the network is as libraries write it. Other letters than those of ASCII, and
    /// `xn--`, are spellings that only some of them take for the same.
    private static func isUsual(_ text: ArraySlice<UInt8>, _ usualPort: String) -> Bool {
        let (host, port) = split(text)
        if let port {
            let isNumber = port.allSatisfy(ASCII.isDigit) && !port.isEmpty && port.first != ASCII.zero
            if !isNumber || port.elementsEqual(usualPort.utf8) { return false }
        }
        let isAddress = host.first == ASCII.openBracket
        let marks = isAddress ? "[:.]" : "-."
        let name = String(decoding: host, as: UTF8.self)
        return !host.isEmpty && host.allSatisfy { ASCII.isWord($0) || marks.utf8.contains($0) }
            && !name.split(separator: ".").contains { $0.hasPrefix("xn--") } && usual(name) == name
    }

    /// Returns whether a host of another scheme is as libraries write it: with no empty user, password or
    /// port in front and behind.
    private static func isUsual(opaque text: ArraySlice<UInt8>) -> Bool {
        let user = text.lastIndex(of: UInt8(ascii: "@")).map { text[..<$0] }
        let (host, port) = split(user.map { text[($0.endIndex + 1)...] } ?? text)
        if port?.isEmpty == true || user?.isEmpty == true || user?.last == ASCII.colon { return false }
        let name = String(decoding: host, as: UTF8.self)
        return !name.hasPrefix("[") || usual(name) == name
    }

    /// Returns the host, and what is behind its colon.
    private static func split(
        _ text: ArraySlice<UInt8>
    ) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>?) {
        let start = text.lastIndex(of: ASCII.closeBracket) ?? text.startIndex
        guard let colon = text[start...].lastIndex(of: ASCII.colon) else { return (text, nil) }
        return (text[..<colon], text[(colon + 1)...])
    }

    /// Returns a host in lower case, without a point at its end, and an address in its usual form; nil for
    /// what is not an address though it ends in a number.
    private static func usual(_ host: String) -> String? {
        var host = host.lowercased()
        if host.hasPrefix("[") { return SocketAddress(numeric: host, port: 0).map { "[\($0.host)]" } }
        while host.hasSuffix(".") { host.removeLast() }
        let last = host.split(separator: ".").last ?? "-"
        let isNumber =
            last.utf8.allSatisfy(ASCII.isDigit)
            || last.hasPrefix("0x") && last.utf8.dropFirst(2).allSatisfy { ASCII.hexValue($0) != nil }
        return isNumber ? SocketAddress.dottedIPv4(host) : host
    }

    /// Returns a pattern with its host as libraries spell it, as far as that has no `*`, `?` and sets.
    static func withUsualHost(pattern: [UInt8]) -> [UInt8] {
        let scheme = scheme(pattern)
        let usualPort = usualPorts[scheme]
        let rest = pattern.dropFirst(scheme.utf8.count)
        guard !scheme.isEmpty, usualPort != nil || rest.starts(with: "//".utf8) else { return pattern }
        let place = (usualPort == nil ? rest.dropFirst(2) : rest.drop { $0 == UInt8(ascii: "/") })
            .prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "#") }
        var (host, port) = split(place)
        if let usualPort, let digits = port, digits.allSatisfy(ASCII.isDigit) {
            port = digits.drop { $0 == ASCII.zero }
            if port?.elementsEqual(usualPort.utf8) == true { port = nil }
        }
        var name = String(decoding: host, as: UTF8.self)
        let address = name.dropping(prefix: "[[]") ?? name.dropping(prefix: "[")
        if let address, let usual = usual("[" + address) {
            name = "[[]" + usual.dropFirst()
        } else if usualPort != nil {
            name = name.lowercased()
            while name.hasSuffix(".") { name.removeLast() }
            if !name.contains(where: isWild) { name = usual(name) ?? name }
        } else if scheme == "file:", name == "localhost" {
            name = ""
        }
        if let port, !port.isEmpty { name += ":" + String(decoding: port, as: UTF8.self) }
        return pattern[..<place.startIndex] + Array(name.utf8) + pattern[place.endIndex...]
    }

    private static func isWild(_ character: Character) -> Bool { "*?[".contains(character) }

    /// Returns a pattern, and what it is in the schemes that its `*` may stand for: how a host is spelled
    /// depends on the scheme.
    static func withSchemes(pattern text: String) -> [String] {
        guard let mark = text.firstRange(of: "://"), text[..<mark.lowerBound].contains(where: isWild) else {
            return [text]
        }
        let pattern = Glob(text[..<mark.lowerBound].lowercased())
        let schemes = usualPorts.keys.map { String($0.dropLast()) } + ["file"]
        return [text] + schemes.filter { pattern.matches($0) }.map { $0 + text[mark.lowerBound...] }
    }

    /// Returns the short form of a URI with the slash behind its host that libraries add.
    static func withPath(short: [UInt8]) -> [UInt8] {
        let scheme = scheme(short)
        guard usualPorts[scheme] != nil else { return short }
        let host = short.dropFirst(scheme.utf8.count).prefix { !isEndOfHost($0) }
        let rest = short[host.endIndex...]
        return rest.first == UInt8(ascii: "/") ? short : short[..<host.endIndex] + [UInt8(ascii: "/")] + rest
    }
}
