/// The values of `Mcp-Name` and `Mcp-Param-*`: plain ASCII, or `=?base64?…?=` around anything else
/// (MCP 2026-07-28, streamable HTTP, "Value Encoding").
enum MCPHeaderValue {
    private static let prefix = "=?base64?"
    private static let suffix = "?="

    /// The field value for `text`: itself if it can stand in a header as it is, otherwise wrapped in Base64.
    static func encode(_ text: String) -> String {
        needsEncoding(text) ? prefix + Base64.encode(text.utf8) + suffix : text
    }

    /// The text of a field value, or nil if it holds illegal characters, or Base64 or UTF-8 that is
    /// malformed.
    ///
    /// The markers are exact: what lacks one of them, or writes it in another case, is taken literally. An
    /// empty value is the empty text.
    static func decode(_ value: ByteSlice) -> String? {
        // A tab inside is a legal field character, although a sender would encode it (AMB-7).
        guard value.allSatisfy({ $0 >= 0x20 && $0 <= 0x7E || $0 == ASCII.tab }) else { return nil }
        guard isWrapped(value) else { return String(value) }
        let inner = value[prefix.utf8.count ..< value.count - suffix.utf8.count]
        guard let bytes = Base64.decode(inner) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func needsEncoding(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, let last = bytes.last else { return false }
        if first == ASCII.space || last == ASCII.space { return true }
        return isWrapped(bytes) || !bytes.allSatisfy { $0 >= 0x20 && $0 <= 0x7E }
    }

    private static func isWrapped(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
        bytes.count >= prefix.utf8.count + suffix.utf8.count && bytes.starts(with: prefix.utf8)
            && bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
