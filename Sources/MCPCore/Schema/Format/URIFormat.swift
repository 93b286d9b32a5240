/// Formats of URIs (RFC 3986), IRIs (RFC 3987) and URI templates (RFC 6570).
struct URIFormat {
    /// Whether characters beyond ASCII may appear unencoded.
    let allowsUnicode: Bool

    func isReference(_ text: String, needsScheme: Bool) -> Bool {
        let uri = SchemaURI(text)
        if let scheme = uri.scheme {
            guard Self.isScheme(scheme) else { return false }
        } else {
            // RFC 3986 section 4.2: a colon in the first segment would make it a scheme.
            guard !needsScheme, !uri.path.prefix(while: { $0 != "/" }).contains(":") else { return false }
        }
        if let authority = uri.authority, !isAuthority(authority) { return false }
        return isMade(uri.path, of: ":@/") && isMade(uri.query ?? "", of: ":@/?", allowsPrivate: true)
            && isMade(uri.fragment ?? "", of: ":@/?")
    }

    private static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A else { return false }
        return text.utf8.allSatisfy { ASCII.isLetterOrDigit($0) || "+-.".utf8.contains($0) }
    }

    private func isAuthority(_ text: String) -> Bool {
        var host = text[...]
        if let at = text.lastIndex(of: "@") {
            guard isMade(String(text[..<at]), of: ":") else { return false }
            host = text[text.index(after: at)...]
        }
        if host.hasPrefix("[") {
            guard let close = host.firstIndex(of: "]") else { return false }
            let literal = Array(host[host.index(after: host.startIndex) ..< close].utf8)
            guard HostFormat.isIPv6(literal[...]) || isFutureAddress(literal) else { return false }
            let rest = host[host.index(after: close)...]
            return rest.isEmpty || (rest.hasPrefix(":") && rest.dropFirst().utf8.allSatisfy { isDigit($0) })
        }
        if let colon = host.lastIndex(of: ":") {
            guard host[host.index(after: colon)...].utf8.allSatisfy({ isDigit($0) }) else { return false }
            host = host[..<colon]
        }
        return isMade(String(host), of: "")
    }

    /// Accepts `IPvFuture` of RFC 3986 section 3.2.2.
    private func isFutureAddress(_ text: [UInt8]) -> Bool {
        guard let first = text.first, first | 0x20 == 0x76, let dot = text.firstIndex(of: 0x2E), dot > 1,
            dot + 1 < text.count
        else { return false }
        return text[1 ..< dot].allSatisfy { Unicode.Scalar($0).hexDigit != nil }
            && isMade(String(decoding: text[(dot + 1)...], as: UTF8.self), of: ":")
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    /// Whether a string consists only of unreserved characters, sub-delims, percent-encoded bytes and those
    /// in `extra`.
    private func isMade(_ text: String, of extra: String, allowsPrivate: Bool = false) -> Bool {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "%" {
                guard rest.popFirst()?.hexDigit != nil, rest.popFirst()?.hexDigit != nil else { return false }
            } else if scalar.isASCII {
                guard
                    // Small: an ASCII character.
                    ASCII.isLetterOrDigit(UInt8(scalar.value))
                        || "-._~!$&'()*+,;=".unicodeScalars.contains(scalar)
                        || extra.unicodeScalars.contains(scalar)
                else { return false }
            } else {
                guard allowsUnicode, isIRICharacter(scalar.value, allowsPrivate) else { return false }
            }
        }
        return true
    }

    /// Accepts `ucschar` and `iprivate` of RFC 3987 section 2.2.
    private func isIRICharacter(_ value: UInt32, _ allowsPrivate: Bool) -> Bool {
        switch value {
        case 0xA0 ... 0xD7FF, 0xF900 ... 0xFDCF, 0xFDF0 ... 0xFFEF: true
        case 0x10000 ... 0xEFFFF: value & 0xFFFF <= 0xFFFD && !(0xE0000 ... 0xE0FFF).contains(value)
        case 0xE000 ... 0xF8FF, 0xF0000 ... 0x10FFFD: allowsPrivate
        default: false
        }
    }

    /// Accepts templates of RFC 6570 section 2: literals and expressions in braces.
    static func isTemplate(_ text: String) -> Bool {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "{":
                guard let close = rest.firstIndex(of: "}") else { return false }
                guard isExpression(String(rest[..<close])) else { return false }
                rest = rest[rest.index(after: close)...]
            case "%":
                guard rest.popFirst()?.hexDigit != nil, rest.popFirst()?.hexDigit != nil else { return false }
            case "}", "\"", "'", "<", ">", "\\", "^", "`", "|": return false
            default: if scalar.value <= 0x20 || scalar.value == 0x7F { return false }
            }
        }
        return true
    }

    private static func isExpression(_ text: String) -> Bool {
        var text = text[...]
        if let first = text.first, "+#./;?&=,!@|".contains(first) { text = text.dropFirst() }
        return text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { variable in
            var name = variable
            if name.hasSuffix("*") {
                name = name.dropLast()
            } else if let colon = name.firstIndex(of: ":") {
                let length = name[name.index(after: colon)...]
                guard (1 ... 4).contains(length.utf8.count), length.first != "0",
                    length.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
                else { return false }
                name = name[..<colon]
            }
            return isVariableName(name)
        }
    }

    private static func isVariableName(_ name: Substring) -> Bool {
        name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            var rest = part.unicodeScalars[...]
            guard !rest.isEmpty else { return false }
            while let scalar = rest.popFirst() {
                if scalar == "%" {
                    guard rest.popFirst()?.hexDigit != nil, rest.popFirst()?.hexDigit != nil else {
                        return false
                    }
                } else if !(scalar == "_"
                    // Small: an ASCII character.
                    || (scalar.isASCII && ASCII.isLetterOrDigit(UInt8(scalar.value))))
                {
                    return false
                }
            }
            return true
        }
    }
}
