/// Parses the ECMA-262 syntax of regular expressions (in Unicode mode, with the leniency that real-world
/// schemas need).
///
/// Back references and flags are not supported, because they cannot be matched in linear time or have no
/// meaning here.
struct PatternParser {
    var scalars: [Unicode.Scalar]
    var position = 0
    private var depth = 0

    /// The maximum nesting depth of groups.
    static let maxDepth = 64
    /// The maximum length of an expression, in scalars.
    static let maxLength = 16_384
    /// The maximum number of repetitions in a quantifier.
    static let maxRepetitions = 10_000

    static func parse(_ source: String) throws(PatternError) -> PatternNode {
        let scalars = Array(source.unicodeScalars)
        guard scalars.count <= maxLength else {
            throw PatternError("longer than \(maxLength) characters", at: maxLength)
        }
        var parser = PatternParser(scalars: scalars)
        let node = try parser.parseAlternation()
        if parser.position < scalars.count { throw parser.error("\")\" without \"(\"") }
        return node
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        position += 1
        return true
    }

    mutating func skip(text: String) -> Bool {
        let wanted = text.unicodeScalars
        guard scalars.count - position >= wanted.count,
            scalars[position ..< position + wanted.count].elementsEqual(wanted)
        else { return false }
        position += wanted.count
        return true
    }

    func error(_ text: String) -> PatternError { PatternError(text, at: position) }

    private mutating func parseAlternation() throws(PatternError) -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maxDepth else { throw error("groups nested deeper than \(Self.maxDepth)") }
        var branches = [try parseSequence()]
        while skip("|") { branches.append(try parseSequence()) }
        return branches.count == 1 ? branches[0] : .alternation(branches)
    }

    private mutating func parseSequence() throws(PatternError) -> PatternNode {
        var terms: [PatternNode] = []
        while let scalar = next, scalar != "|", scalar != ")" {
            let atom = try parseAtom()
            terms.append(try parseQuantifier(of: atom, isGroup: scalar == "("))
        }
        return terms.count == 1 ? terms[0] : .sequence(terms)
    }

    private mutating func parseAtom() throws(PatternError) -> PatternNode {
        guard let scalar = next else { return .empty }
        switch scalar {
        case "^":
            position += 1
            return .assertion(.start)
        case "$":
            position += 1
            return .assertion(.end)
        case ".":
            position += 1
            return .set(ScalarSet.notLineEnd.finished())
        case "(": return try parseGroup()
        case "[":
            position += 1
            return .set(try parseClass().finished())
        case "\\": return try parseEscape()
        case "*", "+", "?": throw error("\"\(scalar)\" has nothing to repeat")
        default:
            if scalar == "{", bounds() != nil { throw error("a quantifier has nothing to repeat") }
            position += 1
            return .set(ScalarSet(scalar.value ... scalar.value).finished())
        }
    }

    private mutating func parseGroup() throws(PatternError) -> PatternNode {
        let start = position
        position += 1
        var look: (ahead: Bool, isNegated: Bool)?
        if skip(text: "?:") {
        } else if skip(text: "?=") {
            look = (true, false)
        } else if skip(text: "?!") {
            look = (true, true)
        } else if skip(text: "?<=") {
            look = (false, false)
        } else if skip(text: "?<!") {
            look = (false, true)
        } else if skip(text: "?<") {
            try skipGroupName()
        } else if next == "?" {
            throw error("this kind of group \"(?…\" is not supported")
        }
        let body = try parseAlternation()
        guard skip(")") else { throw PatternError("\"(\" is not closed", at: start) }
        guard let look else { return body }
        return .look(body, ahead: look.ahead, isNegated: look.isNegated)
    }

    private mutating func skipGroupName() throws(PatternError) {
        let start = position
        while let scalar = next, scalar != ">" {
            guard scalar == "_" || scalar == "$" || scalar.properties.isIDContinue else { break }
            position += 1
        }
        guard position > start, skip(">") else { throw error("a group's name must be letters, digits or _") }
    }

    // MARK: Quantifiers

    private mutating func parseQuantifier(
        of atom: PatternNode, isGroup: Bool
    ) throws(PatternError) -> PatternNode {
        var minimum = 0
        var maximum: Int?
        switch next {
        case "*": position += 1
        case "+":
            minimum = 1
            position += 1
        case "?":
            maximum = 1
            position += 1
        case "{":
            guard let found = bounds() else { return atom }
            if let upper = found.maximum, upper < found.minimum {
                throw error("the bounds of {n,m} are reversed")
            }
            guard found.minimum <= Self.maxRepetitions, found.maximum ?? 0 <= Self.maxRepetitions else {
                throw error("a quantifier repeats more than \(Self.maxRepetitions) times")
            }
            (minimum, maximum) = (found.minimum, found.maximum)
            position = found.end
        default: return atom
        }
        // Whether a match is the shortest or the longest does not matter, only whether there is one.
        _ = skip("?")
        // A group may be repeated, also one around an assertion.
        if case .assertion = atom, !isGroup { throw error("an assertion cannot be repeated") }
        if let scalar = next, scalar == "*" || scalar == "+" || scalar == "?" {
            throw error("\"\(scalar)\" has nothing to repeat")
        }
        return .repeated(atom, minimum: minimum, maximum: maximum)
    }

    /// Returns the bounds of `{n}`, `{n,}` or `{n,m}` at the current position; nil when the brace is an
    /// ordinary character.
    private func bounds() -> (minimum: Int, maximum: Int?, end: Int)? {
        var index = position + 1
        func number() -> Int? {
            var value: Int?
            while index < scalars.count, let digit = scalars[index].decimalDigit {
                // Small: at most ten times `maxRepetitions`.
                value = min((value ?? 0) * 10 + digit, Self.maxRepetitions + 1)
                index += 1
            }
            return value
        }
        guard let minimum = number(), index < scalars.count else { return nil }
        if scalars[index] == "}" { return (minimum, minimum, index + 1) }
        guard scalars[index] == "," else { return nil }
        index += 1
        let maximum = number()
        guard index < scalars.count, scalars[index] == "}" else { return nil }
        return (minimum, maximum, index + 1)
    }
}

extension Unicode.Scalar {
    /// The value of an ASCII digit.
    // Small: a digit.
    var decimalDigit: Int? { value >= 0x30 && value <= 0x39 ? Int(value - 0x30) : nil }

    /// The value of an ASCII hexadecimal digit.
    var hexDigit: UInt32? {
        switch value {
        case 0x30 ... 0x39: value - 0x30
        case 0x41 ... 0x46: value - 0x37
        case 0x61 ... 0x66: value - 0x57
        default: nil
        }
    }
}
