/// The values of `Mcp-Name` and `Mcp-Param-*`: plain ASCII, or `=?base64?…?=` for anything else (MCP
/// 2026-07-28, streamable HTTP, "Value Encoding").
enum MCPHeaderValue {
    private static let prefix = "=?base64?"
    private static let suffix = "?="

    /// Returns the field value for `text`: the text itself if it is valid in a header as it is, otherwise its
    /// wrapped Base64 form.
    static func encode(_ text: String) -> String {
        needsEncoding(text) ? prefix + Base64.encode(text.utf8) + suffix : text
    }

    /// Returns the text of a field value, or nil if it contains illegal characters or malformed Base64 or
    /// UTF-8.
    ///
    /// The markers must match exactly: a value that lacks one of them, or has it in different case, is taken
    /// literally. An empty value is the empty text.
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
        guard let first = bytes.first, let last = text.lastByte else { return false }
        if first == ASCII.space || last == ASCII.space { return true }
        // What is wrapped begins with a character that few names begin with.
        if first == prefix.utf8.first, isWrapped(bytes) { return true }
        return
            unsafe !(bytes.withContiguousStorageIfAvailable { unsafe $0.allSatisfy(isPlain) }
            ?? bytes.allSatisfy(isPlain))
    }

    private static func isPlain(_ byte: UInt8) -> Bool { byte >= 0x20 && byte <= 0x7E }

    private static func isWrapped(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
        bytes.count >= prefix.utf8.count + suffix.utf8.count && bytes.starts(with: prefix.utf8)
            && bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
