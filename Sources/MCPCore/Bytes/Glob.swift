/// A pattern for names: `*` matches any text, `?` one scalar, `[a-z]` and `[!a-z]` one scalar in or not in a
/// set.
package struct Glob: Sendable {
    private enum Part {
        case any
        case one
        case literal(Unicode.Scalar)
        case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)
    }

    private let parts: [Part]

    package init(_ text: String) {
        var parts: [Part] = []
        var rest = Array(text.unicodeScalars)[...]
        while let first = rest.popFirst() {
            switch first {
            case "*":
                if case .any = parts.last {} else { parts.append(.any) }
            case "?": parts.append(.one)
            case "[":
                if let end = rest.dropFirst().firstIndex(of: "]") {
                    parts.append(Self.set(rest[rest.startIndex ..< end]))
                    rest = rest[(end + 1)...]
                } else {
                    parts.append(.literal(first))
                }
            default: parts.append(.literal(first))
            }
        }
        self.parts = parts
    }

    /// Whether a text has a `[` that begins no set, and so stands for itself.
    package static func hasOpenSet(_ text: String) -> Bool {
        Glob(text).parts.contains { if case .literal("[") = $0 { true } else { false } }
    }

    /// Creates a pattern in which only `*` has a special meaning.
    package init(onlyStars text: String) {
        parts = text.unicodeScalars.map { $0 == "*" ? .any : .literal($0) }
    }

    private static func set(_ text: ArraySlice<Unicode.Scalar>) -> Part {
        var rest = text
        let isNegated = rest.first == "!"
        if isNegated { rest = rest.dropFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let low = rest.popFirst() {
            if rest.count >= 2, rest.first == "-", let high = rest.dropFirst().first, low <= high {
                ranges.append(low ... high)
                rest = rest.dropFirst(2)
            } else {
                ranges.append(low ... low)
            }
        }
        return .set(ranges, isNegated: isNegated)
    }

    /// Whether the whole name matches.
    package func matches(_ name: String) -> Bool {
        var steps = 0
        return matches(name, steps: &steps)
    }

    /// Matches iteratively, with one point to backtrack to: linear in practice, and the number of `steps` is
    /// at most the number of parts times the number of scalars.
    package func matches(_ name: String, steps: inout Int) -> Bool {
        let name = Array(name.unicodeScalars)
        var (part, index) = (0, 0)
        var retry: (part: Int, index: Int)?
        while index < name.count {
            steps += 1
            if part < parts.count, case .any = parts[part] {
                part += 1
                retry = (part, index)
            } else if part < parts.count, Self.accepts(parts[part], name[index]) {
                part += 1
                index += 1
            } else if let back = retry {
                part = back.part
                index = back.index + 1
                retry = (back.part, index)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { if case .any = $0 { true } else { false } }
    }

    private static func accepts(_ part: Part, _ scalar: Unicode.Scalar) -> Bool {
        switch part {
        case .any, .one: true
        case .literal(let literal): literal == scalar
        case .set(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
        }
    }
}
