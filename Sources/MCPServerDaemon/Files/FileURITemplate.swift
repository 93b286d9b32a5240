import MCPCore

/// The mapping between relative paths and URIs: `docs:///{+path}`.
struct FileURITemplate: Sendable, Hashable {
    let text: String
    private let prefix: String
    private let suffix: String

    /// The reason why a text is not such a template.
    struct Flaw: Error {
        var text: String
    }

    init(_ text: String) throws(Flaw) {
        guard let open = text.firstIndex(of: "{"), let close = text[open...].firstIndex(of: "}"),
            text[open ... close] == "{+path}" || text[open ... close] == "{path}",
            !text[text.index(after: close)...].contains("{")
        else { throw Flaw(text: "must contain {+path} once, for example docs:///{+path}") }
        let prefix = String(text[..<open])
        let scheme = prefix.prefix { $0 != ":" }
        guard let first = scheme.utf8.first, ASCII.isLetter(first), prefix.contains(":"),
            scheme.utf8.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) })
        else { throw Flaw(text: "must begin with a scheme, for example docs:///{+path}") }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Flaw(text: "must not contain spaces or non-ASCII characters")
        }
        self.text = text
        self.prefix = prefix
        suffix = String(text[text.index(after: close)...])
    }

    /// Returns the URI of a file.
    ///
    /// Slashes are kept; every other byte that is not unreserved (RFC 3986 2.3) is escaped, so that the path
    /// can be recovered unchanged.
    func uri(of path: String) -> String {
        var encoded: [UInt8] = []
        for byte in path.utf8 {
            if Self.isPlain(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(Self.hexDigits[Int(byte >> 4)])
                encoded.append(Self.hexDigits[Int(byte & 15)])
            }
        }
        return prefix + String(decoding: encoded, as: UTF8.self) + suffix
    }

    /// Returns the path that a URI names, or `nil` if the URI does not match this template or the path is not
    /// text.
    func path(of uri: String) -> String? {
        guard uri.utf8.count >= prefix.utf8.count + suffix.utf8.count, uri.utf8.starts(with: prefix.utf8),
            uri.utf8.reversed().starts(with: suffix.utf8.reversed())
        else { return nil }
        let encoded = Array(uri.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count))
        var bytes: [UInt8] = []
        var index = 0
        while index < encoded.count {
            if encoded[index] == UInt8(ascii: "%") {
                guard index + 2 < encoded.count, let high = Self.nibble(encoded[index + 1]),
                    let low = Self.nibble(encoded[index + 2])
                else { return nil }
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(encoded[index])
                index += 1
            }
        }
        guard !bytes.isEmpty, !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    private static func isPlain(_ byte: UInt8) -> Bool { ASCII.isWord(byte) || "-.~/".utf8.contains(byte) }

    private static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0") ... UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A") ... UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a") ... UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
