/// Formats of host names, IP addresses and email addresses.
enum HostFormat {
    /// Accepts host names of RFC 1123: labels of letters, digits and hyphens, at most 63 bytes each and 253
    /// bytes in total.
    static func isHostname(_ text: ArraySlice<UInt8>) -> Bool {
        guard !text.isEmpty, text.count <= 253 else { return false }
        return text.split(separator: 0x2E, omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.count <= 63 && label.first != 0x2D && label.last != 0x2D
                && label.allSatisfy { ASCII.isLetterOrDigit($0) || $0 == 0x2D }
        }
    }

    /// Accepts four decimal numbers without leading zeros (RFC 2673 section 3.2).
    static func isIPv4(_ text: ArraySlice<UInt8>) -> Bool {
        let parts = text.split(separator: 0x2E, omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                guard (1 ... 3).contains(part.count), part.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
                    part.count == 1 || part.first != 0x30
                else { return false }
                // Small: three digits at most.
                return part.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 255
            }
    }

    /// Accepts addresses of RFC 4291 section 2.2, without a zone.
    static func isIPv6(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count >= 2, text.count <= 45 else { return false }
        let parts = text.split(separator: 0x3A, omittingEmptySubsequences: false)
        var groups = 0
        var gaps = 0
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            if part.isEmpty {
                // "::" yields one empty part in the middle of the text, and two at its start or end.
                if index == 0 {
                    guard parts[1].isEmpty else { return false }
                } else if isLast {
                    guard parts[index - 1].isEmpty else { return false }
                } else {
                    gaps += 1
                }
            } else if isLast, part.contains(0x2E) {
                guard isIPv4(part) else { return false }
                groups += 2
            } else {
                guard part.count <= 4, part.allSatisfy({ Unicode.Scalar($0).hexDigit != nil }) else {
                    return false
                }
                groups += 1
            }
        }
        return gaps == 0 ? groups == 8 : gaps == 1 && groups < 8
    }

    /// Accepts `Mailbox` of RFC 5321 section 4.1.2.
    static func isEmail(_ text: [UInt8]) -> Bool {
        guard let at = text.lastIndex(of: 0x40) else { return false }
        return isLocalPart(text[..<at]) && isMailDomain(text[(at + 1)...])
    }

    private static func isLocalPart(_ text: ArraySlice<UInt8>) -> Bool {
        if text.count >= 2, text.first == 0x22, text.last == 0x22 {
            return isQuoted(text.dropFirst().dropLast())
        }
        return text.split(separator: 0x2E, omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty
                && atom.allSatisfy { ASCII.isLetterOrDigit($0) || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
        }
    }

    private static func isQuoted(_ text: ArraySlice<UInt8>) -> Bool {
        var isEscaped = false
        for byte in text {
            guard byte >= 0x20, byte < 0x7F, isEscaped || byte != 0x22 else { return false }
            isEscaped = !isEscaped && byte == 0x5C
        }
        return !isEscaped
    }

    private static func isMailDomain(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.first == 0x5B, text.last == 0x5D else { return isHostname(text) }
        let literal = text.dropFirst().dropLast()
        if literal.starts(with: "IPv6:".utf8) { return isIPv6(literal.dropFirst(5)) }
        return isIPv4(literal)
    }
}
