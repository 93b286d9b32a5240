/// A URI reference split into its components, and its resolution against a base (RFC 3986 section 5).
struct SchemaURI: Sendable, Hashable, CustomStringConvertible {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    /// Splits any text, like the regular expression in RFC 3986 appendix B; nothing is validated.
    init(_ text: String) {
        var rest = text[...]
        if let hash = rest.firstIndex(of: "#") {
            fragment = String(rest[rest.index(after: hash)...])
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: ":"), colon > rest.startIndex, !rest[..<colon].contains("/") {
            scheme = String(rest[..<colon])
            rest = rest[rest.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        path = String(rest)
    }

    var description: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// The same URI without its fragment.
    var withoutFragment: SchemaURI {
        var uri = self
        uri.fragment = nil
        return uri
    }

    /// Resolves this reference against `base` (RFC 3986 section 5.2.2).
    func resolved(against base: SchemaURI) -> SchemaURI {
        var target = self
        guard scheme == nil else {
            target.path = Self.withoutDotSegments(path)
            return target
        }
        target.scheme = base.scheme
        guard authority == nil else {
            target.path = Self.withoutDotSegments(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.hasPrefix("/") {
            target.path = Self.withoutDotSegments(path)
        } else {
            target.path = Self.withoutDotSegments(merged(with: base))
        }
        return target
    }

    private func merged(with base: SchemaURI) -> String {
        if base.authority != nil, base.path.isEmpty { return "/" + path }
        guard let slash = base.path.lastIndex(of: "/") else { return path }
        return base.path[...slash] + path
    }

    /// Removes dot segments (RFC 3986 section 5.2.4).
    private static func withoutDotSegments(_ path: String) -> String {
        guard path.contains(".") else { return path }
        var output: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { output.append("") }
            case "..":
                if output.count > 1 || (output.count == 1 && output[0] != "") { output.removeLast() }
                if isLast { output.append("") }
            default: output.append(segment)
            }
        }
        return output.joined(separator: "/")
    }

    /// Returns the text with its percent-encoding decoded; nil when that is malformed or not UTF-8.
    static func percentDecoded(_ text: String) -> String? {
        guard text.utf8.contains(0x25) else { return text }
        var bytes: [UInt8] = []
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "%" else {
                bytes += UTF8.encode(scalar).map(Array.init) ?? []
                continue
            }
            guard let high = rest.popFirst()?.hexDigit, let low = rest.popFirst()?.hexDigit else {
                return nil
            }
            // Small: two hexadecimal digits.
            bytes.append(UInt8(high << 4 | low))
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
