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
    func uri(of path: String) -> String { prefix + PercentCoding.encode(path, keeping: "/") + suffix }

    /// Returns the path that a URI names, or `nil` if the URI does not match this template or the path is not
    /// text.
    func path(of uri: String) -> String? {
        guard uri.utf8.count >= prefix.utf8.count + suffix.utf8.count, uri.utf8.starts(with: prefix.utf8),
            uri.utf8.reversed().starts(with: suffix.utf8.reversed())
        else { return nil }
        let encoded = uri.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        return PercentCoding.decode(encoded).flatMap { $0.isEmpty ? nil : $0 }
    }
}
