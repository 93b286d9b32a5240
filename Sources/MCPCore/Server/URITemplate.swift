/// A URI template (RFC 6570) that URIs are matched against in time linear in the URI.
///
/// A simple variable `{name}` matches one path segment, a reserved one `{+name}` matches any text. Each
/// variable matches the shortest text after which the rest can still match, and the last one matches the
/// remainder. No expression backtracks (CVE-2026-0621).
package struct URITemplate: Sendable {
    private enum Part: Sendable {
        case literal([UInt8])
        case variable(name: String, isReserved: Bool)
    }

    package let text: String
    private let parts: [Part]

    package init(_ text: String) throws(RegistrationError) {
        self.text = text
        parts = try Self.parse(text)
    }

    private static func parse(_ text: String) throws(RegistrationError) -> [Part] {
        var parts: [Part] = []
        var rest = Substring(text)
        while let open = rest.firstIndex(of: "{") {
            let literal = rest[..<open]
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw RegistrationError("the URI template \(text) has a { without }")
            }
            var name = rest[rest.index(after: open) ..< close]
            let isReserved = name.first == "+"
            if isReserved { name = name.dropFirst() }
            guard !name.isEmpty, name.utf8.allSatisfy(isNameByte) else {
                throw RegistrationError(
                    "the URI template \(text): {\(name)} is not supported; use {name} or {+name}")
            }
            if !literal.isEmpty {
                parts.append(.literal(Array(literal.utf8)))
            } else if case .variable = parts.last {
                throw RegistrationError(
                    "the URI template \(text) has two variables without text between them")
            }
            parts.append(.variable(name: String(name), isReserved: isReserved))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.literal(Array(rest.utf8))) }
        return parts
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30 ... 0x39, 0x41 ... 0x5A, 0x61 ... 0x7A, 0x5F, 0x2E: true
        default: false
        }
    }

    /// Returns the variables' values, percent-decoded, or nil when the URI does not match this template.
    package func match(_ uri: String) -> [String: String]? {
        let bytes = Array(uri.utf8)
        var position = 0
        var values: [String: String] = [:]
        for (index, part) in parts.enumerated() {
            switch part {
            case .literal(let literal):
                guard Self.matches(literal, in: bytes, at: position) else { return nil }
                position += literal.count
            case .variable(let name, let isReserved):
                guard let end = end(ofVariableAt: index, isReserved, bytes, from: position), end > position,
                    let value = PercentCoding.decode(bytes[position ..< end])
                else { return nil }
                values[name] = value
                position = end
            }
        }
        return position == bytes.count ? values : nil
    }

    private func end(
        ofVariableAt index: Int, _ isReserved: Bool, _ bytes: [UInt8], from start: Int
    ) -> Int? {
        var limit = start
        while limit < bytes.count, isReserved || Self.isSegmentByte(bytes[limit]) { limit += 1 }
        guard index + 1 < parts.count, case .literal(let next) = parts[index + 1] else { return limit }
        if index + 2 == parts.count {
            // The last literal has to end the URI, so its position is known.
            let end = bytes.count - next.count
            return end >= start && end <= limit ? end : nil
        }
        // A variable matches at least one byte.
        var end = start + 1
        while end <= limit {
            if Self.matches(next, in: bytes, at: end) { return end }
            end += 1
        }
        return nil
    }

    private static func matches(_ literal: [UInt8], in bytes: [UInt8], at position: Int) -> Bool {
        guard bytes.count - position >= literal.count else { return false }
        for offset in 0 ..< literal.count where bytes[position + offset] != literal[offset] { return false }
        return true
    }

    private static func isSegmentByte(_ byte: UInt8) -> Bool {
        byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
    }
}
