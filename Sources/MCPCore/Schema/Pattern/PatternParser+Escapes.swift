extension PatternParser {
    /// The meaning of an escape or of one member of a class.
    private enum Atom {
        case scalar(UInt32)
        case set(ScalarSet)
    }

    /// Parses `\…` outside a class.
    mutating func parseEscape() throws(PatternError) -> PatternNode {
        position += 1
        if skip("b") { return .assertion(.wordBoundary) }
        if skip("B") { return .assertion(.notWordBoundary) }
        if let digit = next?.decimalDigit, digit != 0 { throw error("back references are not supported") }
        if next == "k" { throw error("back references are not supported") }
        switch try parseEscapedAtom() {
        case .scalar(let value): return .set(ScalarSet(value ... value).finished())
        case .set(let set): return .set(set.finished())
        }
    }

    /// Parses a class, starting after its `[`.
    mutating func parseClass() throws(PatternError) -> ScalarSet {
        let start = position - 1
        let isNegated = skip("^")
        var set = ScalarSet()
        while true {
            guard next != nil else { throw PatternError("\"[\" is not closed", at: start) }
            if skip("]") { return isNegated ? set.inverted() : set }
            let low = try parseClassAtom()
            guard next == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
                switch low {
                case .scalar(let value): set.insert(value ... value)
                case .set(let other): set.formUnion(other)
                }
                continue
            }
            position += 1
            let high = try parseClassAtom()
            switch (low, high) {
            case (.scalar(let low), .scalar(let high)):
                guard low <= high else { throw error("a range in a class is reversed") }
                set.insert(low ... high)
            default: throw error("a range in a class must consist of single characters")
            }
        }
    }

    private mutating func parseClassAtom() throws(PatternError) -> Atom {
        guard let scalar = next else { throw error("\"[\" is not closed") }
        position += 1
        guard scalar == "\\" else { return .scalar(scalar.value) }
        if skip("b") { return .scalar(0x08) }
        return try parseEscapedAtom()
    }

    private mutating func parseEscapedAtom() throws(PatternError) -> Atom {
        guard let scalar = next else { throw error("the expression ends with \"\\\"") }
        position += 1
        switch scalar {
        case "d": return .set(.digits)
        case "D": return .set(ScalarSet.digits.inverted())
        case "w": return .set(.word)
        case "W": return .set(ScalarSet.word.inverted())
        case "s": return .set(.space)
        case "S": return .set(ScalarSet.space.inverted())
        case "p", "P": return .set(try parseProperty(isNegated: scalar == "P"))
        case "t": return .scalar(0x09)
        case "n": return .scalar(0x0A)
        case "v": return .scalar(0x0B)
        case "f": return .scalar(0x0C)
        case "r": return .scalar(0x0D)
        case "0":
            guard next?.decimalDigit == nil else { throw error("octal escapes are not supported") }
            return .scalar(0)
        case "c":
            guard let letter = next, letter.isASCII, letter.properties.isAlphabetic else {
                throw error("\"\\c\" must be followed by a letter")
            }
            position += 1
            return .scalar(letter.value & 0x1F)
        case "x": return .scalar(try parseHex(digits: 2))
        case "u": return .scalar(try parseUnicodeEscape())
        default:
            guard scalar == "_" || !scalar.properties.isIDContinue else {
                position -= 1
                throw error("unknown escape \"\\\(scalar)\"")
            }
            return .scalar(scalar.value)
        }
    }

    private mutating func parseHex(digits: Int) throws(PatternError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0 ..< digits {
            guard let digit = next?.hexDigit else { throw error("expected \(digits) hexadecimal digits") }
            value = value << 4 | digit
            position += 1
        }
        return value
    }

    /// Parses what follows `\u`: `{…}`, four digits, or a surrogate pair in two escapes.
    private mutating func parseUnicodeEscape() throws(PatternError) -> UInt32 {
        if skip("{") {
            var value: UInt32 = 0
            let start = position
            while let digit = next?.hexDigit, value <= 0x10FFFF {
                value = value << 4 | digit
                position += 1
            }
            guard position > start, value <= 0x10FFFF, skip("}") else {
                throw error("\"\\u{…}\" needs a code point up to 10FFFF")
            }
            return value
        }
        let high = try parseHex(digits: 4)
        let mark = position
        guard high & 0xFC00 == 0xD800, skip(text: "\\u") else { return high }
        let low = try parseHex(digits: 4)
        guard low & 0xFC00 == 0xDC00 else {
            position = mark
            return high
        }
        return 0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF)
    }

    private mutating func parseProperty(isNegated: Bool) throws(PatternError) -> ScalarSet {
        guard skip("{") else { throw error("\"\\p\" needs a name in braces") }
        var name = ""
        while let scalar = next, scalar != "}" {
            name.unicodeScalars.append(scalar)
            position += 1
        }
        guard skip("}") else { throw error("\"\\p{\" is not closed") }
        guard let property = ScalarProperty(name: name, isNegated: isNegated) else {
            throw error("the Unicode property \"\(name)\" is not supported")
        }
        var set = ScalarSet()
        set.insert(property)
        return set
    }
}
