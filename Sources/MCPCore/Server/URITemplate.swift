/// A URI template (RFC 6570) that URIs are matched against in time linear in both.
///
/// A simple variable `{name}` matches one path segment, a reserved one `{+name}` matches any text. Each
/// variable matches the shortest text after which the rest can still match, and the last one matches the
/// remainder. No expression backtracks (CVE-2026-0621).
package struct URITemplate: Sendable {
    /// The most bytes of a template.
    package static let maxBytes = 2_048

    private enum Part: Sendable {
        case literal(URILiteral)
        case variable(name: String, isReserved: Bool)
    }

    package let text: String
    private let parts: [Part]

    package init(_ text: String) throws(RegistrationError) {
        self.text = text
        guard text.utf8.count <= Self.maxBytes else {
            throw RegistrationError("a URI template has more than \(Self.maxBytes) bytes")
        }
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
            guard !name.isEmpty, name.first != ".", name.utf8.allSatisfy(isNameByte) else {
                throw RegistrationError(
                    "the URI template \(text): {\(name)} is not supported; use {name} or {+name}")
            }
            if !literal.isEmpty {
                parts.append(.literal(URILiteral(literal)))
            } else if case .variable = parts.last {
                throw RegistrationError(
                    "the URI template \(text) has two variables without text between them")
            }
            parts.append(.variable(name: String(name), isReserved: isReserved))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.literal(URILiteral(rest))) }
        return parts
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30 ... 0x39, 0x41 ... 0x5A, 0x61 ... 0x7A, 0x5F, 0x2E: true
        default: false
        }
    }

    /// The names of the variables, in their order.
    package var variables: [String] {
        parts.compactMap { if case .variable(let name, _) = $0 { name } else { nil } }
    }

    /// Returns the template with values in the place of variables, up to the first one that has none, and
    /// whether that is all of it.
    package func filled(_ values: [String: String]) -> (text: String, isWhole: Bool) {
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += String(decoding: literal.bytes, as: UTF8.self)
            case .variable(let name, let isReserved):
                guard let value = values[name] else { return (text, false) }
                text += isReserved ? value : PercentCoding.encode(value)
            }
        }
        return (text, true)
    }

    /// Returns the variables' values, percent-decoded, or nil when the URI does not match this template.
    package func match(_ uri: String) -> [String: String]? {
        let bytes = Array(uri.utf8)
        var position = 0
        var segmentEnd = -1
        var values: [String: String] = [:]
        for (index, part) in parts.enumerated() {
            switch part {
            case .literal(let literal):
                guard literal.isFound(in: bytes, at: position) else { return nil }
                position += literal.bytes.count
            case .variable(let name, let isReserved):
                // Looked for once in each segment, however many variables it has.
                if !isReserved, segmentEnd < position {
                    segmentEnd = bytes[position...].firstIndex { !Self.isSegmentByte($0) } ?? bytes.count
                }
                let limit = isReserved ? bytes.count : segmentEnd
                guard let end = end(ofVariableAt: index, bytes, from: position, to: limit), end > position,
                    let value = PercentCoding.decode(bytes[position ..< end])
                else { return nil }
                values[name] = value
                position = end
            }
        }
        return position == bytes.count ? values : nil
    }

    /// - Parameter limit: the end of what the variable may match.
    private func end(ofVariableAt index: Int, _ bytes: [UInt8], from start: Int, to limit: Int) -> Int? {
        guard index + 1 < parts.count, case .literal(let next) = parts[index + 1] else { return limit }
        if index + 2 == parts.count {
            // The last literal has to end the URI, so its position is known.
            let end = bytes.count - next.bytes.count
            return end >= start && end <= limit ? end : nil
        }
        // A variable matches at least one byte.
        guard start < limit else { return nil }
        return next.firstPlace(in: bytes[(start + 1) ..< min(bytes.count, limit + next.bytes.count)])
    }

    private static func isSegmentByte(_ byte: UInt8) -> Bool {
        byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
    }
}

/// A text of a template between variables.
private struct URILiteral: Sendable {
    let bytes: [UInt8]
    /// For each prefix, the length of the longest shorter prefix that it ends with: a search continues there
    /// after a byte that differs, and never goes back.
    private let borders: [Int]

    init(_ text: Substring) {
        bytes = Array(text.utf8)
        var borders = [Int](repeating: 0, count: bytes.count)
        var length = 0
        for place in bytes.indices.dropFirst() {
            while length > 0, bytes[place] != bytes[length] { length = borders[length - 1] }
            if bytes[place] == bytes[length] { length += 1 }
            borders[place] = length
        }
        self.borders = borders
    }

    func isFound(in text: [UInt8], at place: Int) -> Bool { text[place...].starts(with: bytes) }

    func firstPlace(in text: ArraySlice<UInt8>) -> Int? {
        var length = 0
        for place in text.indices {
            while length > 0, text[place] != bytes[length] { length = borders[length - 1] }
            if text[place] == bytes[length] { length += 1 }
            if length == bytes.count { return place + 1 - length }
        }
        return nil
    }
}
