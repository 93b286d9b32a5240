/// Walks once over the bytes of a well-formed value, in step with the nodes of a `FlatSchema`.
///
/// The grammar has already been checked, so the walker only needs to find the ends of tokens.
@safe struct FlatWalker {
    typealias Verdict = FlatSchema.Verdict

    // SAFETY: the caller keeps all memory alive; every load from `base` is at an offset below `end`.
    let base: UnsafePointer<UInt8>
    let end: Int
    let nodes: UnsafeBufferPointer<FlatSchema.Node>
    let names: UnsafeBufferPointer<FlatSchema.Name>
    let text: UnsafeBufferPointer<UInt8>
    var position = 0

    init(
        base: UnsafePointer<UInt8>, end: Int, nodes: UnsafeBufferPointer<FlatSchema.Node>,
        names: UnsafeBufferPointer<FlatSchema.Name>, text: UnsafeBufferPointer<UInt8>
    ) {
        unsafe self.base = base
        self.end = end
        unsafe self.nodes = nodes
        unsafe self.names = names
        unsafe self.text = text
    }

    @inline(__always)
    private var byte: UInt8 { position < end ? unsafe base[position] : 0 }

    /// Checks the value at the current position and, if it is valid, moves past it.
    mutating func check(_ number: Int) -> Verdict {
        guard number >= 0 else {
            skipValue()
            return .valid
        }
        let node = unsafe nodes.baseAddress.unsafelyUnwrapped + number
        let first = byte
        let type: SchemaTypes
        switch first {
        case ASCII.quote: type = .string
        case ASCII.openBrace: type = .object
        case ASCII.openBracket: type = .array
        case 0x74, 0x66: type = .boolean
        case 0x6E: type = .null
        default: return unsafe checkNumber(node)
        }
        guard unsafe node.pointee.types.contains(type) else { return .invalid }
        guard unsafe node.pointee.unknown.isDisjoint(with: type) else { return .unknown }
        switch first {
        case ASCII.quote: return unsafe checkString(node)
        case ASCII.openBrace: return unsafe checkObject(node)
        case ASCII.openBracket: return unsafe checkArray(node)
        default:
            position += first == 0x66 ? 5 : 4
            return .valid
        }
    }

    // MARK: Scalars

    private mutating func checkNumber(_ node: UnsafePointer<FlatSchema.Node>) -> Verdict {
        guard unsafe !node.pointee.types.isDisjoint(with: .number) else { return .invalid }
        guard unsafe node.pointee.unknown.isDisjoint(with: .number) else { return .unknown }
        let start = position
        let isNegative = byte == ASCII.minus
        if isNegative { position += 1 }
        var value: Int64 = 0
        let digits = position
        while position < end {
            let digit = unsafe base[position] &- ASCII.zero
            guard digit <= 9 else { break }
            // Small: a digit.
            value = value &* 10 &+ Int64(digit)
            position += 1
        }
        let isInteger = byte != ASCII.point && byte | 0x20 != 0x65
        if unsafe isInteger ? node.pointee.limitsNumber : !node.pointee.types.isSuperset(of: .number) {
            guard isInteger, position - digits <= 18 else { return .unknown }
            // Small: 18 digits at most.
            if isNegative { value = -value }
            return unsafe value >= node.pointee.minimum && value <= node.pointee.maximum ? .valid : .invalid
        }
        if !isInteger {
            guard unsafe !node.pointee.limitsNumber else { return .unknown }
            position = start
            skipScalar()
        }
        return .valid
    }

    private mutating func checkString(_ node: UnsafePointer<FlatSchema.Node>) -> Verdict {
        let start = position + 1
        let isPlain = skipString()
        let content = start ..< position - 1
        if unsafe node.pointee.hasTexts {
            guard isPlain else { return .unknown }
            guard unsafe find(content, in: node.pointee.texts) != nil else { return .invalid }
        }
        guard unsafe node.pointee.limitsLength else { return .valid }
        guard isPlain else { return .unknown }
        var length = 0
        // Continuation bytes of UTF-8 are those below -64 as signed numbers.
        for index in content where unsafe Int8(bitPattern: base[index]) >= -64 { length += 1 }
        return unsafe length >= node.pointee.minLength && length <= node.pointee.maxLength ? .valid : .invalid
    }

    /// Returns the index of a name (or string) within `range` of `names`, counted from the start of the
    /// range.
    @inline(__always)
    private func find(_ content: Range<Int>, in range: Range<Int>) -> Int? {
        for place in range {
            let name = unsafe names[place]
            guard name.count == content.count else { continue }
            var index = 0
            while index < name.count,
                unsafe text[name.start + index] == base[content.lowerBound + index]
            {
                index += 1
            }
            if index == name.count { return place - range.lowerBound }
        }
        return nil
    }

    // MARK: Containers

    private mutating func checkObject(_ node: UnsafePointer<FlatSchema.Node>) -> Verdict {
        position += 1
        var seen: UInt64 = 0
        var count = 0
        let members = unsafe node.pointee.members
        while true {
            skipSpace()
            if byte == ASCII.comma {
                position += 1
                skipSpace()
            }
            guard byte == ASCII.quote else { break }
            let start = position + 1
            guard skipString() else { return .unknown }
            let key = start ..< position - 1
            skipSpace()
            position += 1
            skipSpace()
            count += 1
            let target: Int
            if let slot = find(key, in: members) {
                // Small: a slot below 64; a shift never traps.
                let bit: UInt64 = 1 << UInt64(slot)
                let listed = unsafe names[members.lowerBound + slot].node
                if listed != FlatSchema.unlisted, seen & bit != 0 { return .invalid }
                seen |= bit
                target = unsafe listed == FlatSchema.unlisted ? node.pointee.additional : listed
            } else {
                target = unsafe node.pointee.additional
            }
            guard target != FlatSchema.none else { return .invalid }
            let verdict = check(target)
            guard verdict == .valid else { return verdict }
        }
        position += 1
        let required = unsafe node.pointee.required
        return unsafe seen & required == required && count >= node.pointee.minMembers
            && count <= node.pointee.maxMembers ? .valid : .invalid
    }

    private mutating func checkArray(_ node: UnsafePointer<FlatSchema.Node>) -> Verdict {
        position += 1
        var count = 0
        let items = unsafe node.pointee.items
        while true {
            skipSpace()
            if byte == ASCII.comma {
                position += 1
                skipSpace()
            }
            guard position < end, byte != ASCII.closeBracket else { break }
            count += 1
            let verdict = check(items)
            guard verdict == .valid else { return verdict }
        }
        position += 1
        return unsafe count >= node.pointee.minItems && count <= node.pointee.maxItems ? .valid : .invalid
    }

    // MARK: Skipping

    @inline(__always)
    private mutating func skipSpace() {
        while position < end, unsafe base[position] <= 0x20 { position += 1 }
    }

    /// Moves past a string and returns whether it has no escapes.
    @inline(__always)
    private mutating func skipString() -> Bool {
        var isPlain = true
        var index = position + 1
        while true {
            index = unsafe JSONBytes.plainEnd(base, index, end)
            guard index < end, unsafe base[index] != ASCII.quote else { break }
            if unsafe base[index] == ASCII.backslash {
                isPlain = false
                index += 2
            } else {
                index += 1
            }
        }
        position = index + 1
        return isPlain
    }

    private mutating func skipScalar() {
        while position < end {
            switch unsafe base[position] {
            case ASCII.comma, ASCII.closeBrace, ASCII.closeBracket, 0x00 ... 0x20: return
            default: position += 1
            }
        }
    }

    private mutating func skipValue() {
        var depth = 0
        repeat {
            switch byte {
            case ASCII.quote: _ = skipString()
            case ASCII.openBrace, ASCII.openBracket:
                depth += 1
                position += 1
            case ASCII.closeBrace, ASCII.closeBracket:
                depth -= 1
                position += 1
            case ASCII.comma, ASCII.colon, 0x00 ... 0x20: position += 1
            default: skipScalar()
            }
        } while depth > 0 && position < end
    }
}
