import MCPCore

extension ObjectReader {
    /// Reads a list of origins of web pages; empty if the key is missing.
    mutating func origins(_ key: String) -> [String] {
        let origins = strings(key) ?? []
        for origin in origins where !Self.isOrigin(origin) {
            context.diagnostics.error(
                "\(pathOf(key)): \"\(origin)\" is not the origin of a web page; "
                    + "write it without a path, such as \"https://app.example.com\"", at: place(of: key))
        }
        return origins
    }

    /// Whether a byte may be part of the name of a host.
    static func isNameCharacter(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
    }

    private static func isOrigin(_ text: String) -> Bool {
        guard let separator = text.firstRange(of: "://") else { return false }
        let (scheme, authority) = (text[..<separator.lowerBound], text[separator.upperBound...])
        return !scheme.isEmpty
            && scheme.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2D }
            && !authority.isEmpty
            && authority.utf8.allSatisfy { isNameCharacter($0) || [0x3A, 0x5B, 0x5D].contains($0) }
    }
}
