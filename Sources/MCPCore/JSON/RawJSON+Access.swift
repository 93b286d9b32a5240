/// Access to the contents of a value; each accessor is nil if the value is of another kind.
extension RawJSON {
    /// A member of an object, the last one for a repeated name; nil if there is none or this is not an
    /// object.
    public subscript(key: String) -> RawJSON? {
        var key = key
        return key.withUTF8 { name in unsafe member(utf8: name) }
    }

    /// A member of an object, the last one for a repeated name; nil if there is none or this is not an
    /// object.
    @inline(__always)
    func member(_ name: StaticString) -> RawJSON? {
        unsafe member(utf8: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }

    private func member(utf8 name: UnsafeBufferPointer<UInt8>) -> RawJSON? {
        var found: Range<Int>?
        eachMember { scanner, token, value in
            if unsafe scanner.tokenEquals(token, utf8: name) { found = value }
            return true
        }
        return found.map(part)
    }

    /// An element of an array; nil if there is none or this is not an array.
    public subscript(index: Int) -> RawJSON? {
        guard index >= 0 else { return nil }
        var place = 0
        var found: Range<Int>?
        eachElement { value in
            if place == index { found = value }
            place += 1
            return place <= index
        }
        return found.map(part)
    }

    /// Whether the value is `null`.
    public var isNull: Bool { kind == .null }

    /// The truth value of `true` or `false`.
    public var bool: Bool? { kind == .bool ? bytes[0] == 0x74 : nil }

    /// The text of a string.
    public var string: String? {
        guard kind == .string else { return nil }
        return scan { scanner in (try? scanner.scanString()).map { scanner.unescape($0) } }
    }

    /// The number with its exact text.
    public var number: JSONNumber? { kind == .number ? JSONNumber(scanned: String(bytes)) : nil }

    /// The value of an integral number in range, including spellings such as `1.0` or `1e2`.
    public var int64: Int64? {
        kind == .number ? unsafe bytes.withBytes { unsafe JSONDecimal($0).integer() } : nil
    }

    /// The value of an integral number in range, including spellings such as `1.0` or `1e2`.
    public var int: Int? {
        kind == .number ? unsafe bytes.withBytes { unsafe JSONDecimal($0).integer() } : nil
    }

    /// The nearest `Double` of a number; infinite for a number out of range.
    public var double: Double? {
        kind == .number ? unsafe bytes.withBytes { unsafe JSONDecimal($0).double() } : nil
    }

    /// The elements of an array, without copying them.
    public var elements: [RawJSON]? {
        guard kind == .array else { return nil }
        var elements: [RawJSON] = []
        forEachElement { elements.append($0) }
        return elements
    }

    // MARK: Iteration

    /// Calls `body` with each member of an object: the name as a string token with its quotes, and the value.
    func forEachMember(_ body: (_ key: RawJSON, _ value: RawJSON) -> Void) {
        eachMember { _, token, value in
            body(part(token.quoted), part(value))
            return true
        }
    }

    /// Calls `body` with each element of an array.
    func forEachElement(_ body: (RawJSON) -> Void) {
        eachElement { value in
            body(part(value))
            return true
        }
    }

    @inline(__always)
    private func part(_ range: Range<Int>) -> RawJSON { RawJSON(unchecked: bytes[range]) }

    /// Calls `body` with each member until it returns false.
    @inline(__always)
    private func eachMember(_ body: (JSONScanner, JSONStringToken, Range<Int>) -> Bool) {
        guard kind == .object else { return }
        scan { scanner in
            scanner.position = 1
            scanner.skipWhitespace()
            guard scanner.peek == ASCII.quote else { return }
            while let token = try? scanner.scanKey() {
                let start = scanner.position
                guard (try? scanner.scanValue(depth: 1)) != nil else { return }
                guard body(scanner, token, start ..< scanner.position) else { return }
                scanner.skipWhitespace()
                guard (try? scanner.expect(ASCII.comma)) != nil else { return }
            }
        }
    }

    /// Calls `body` with each element until it returns false.
    @inline(__always)
    private func eachElement(_ body: (Range<Int>) -> Bool) {
        guard kind == .array else { return }
        scan { scanner in
            scanner.position = 1
            scanner.skipWhitespace()
            guard scanner.peek != ASCII.closeBracket else { return }
            while true {
                scanner.skipWhitespace()
                let start = scanner.position
                guard (try? scanner.scanValue(depth: 1)) != nil else { return }
                guard body(start ..< scanner.position) else { return }
                scanner.skipWhitespace()
                guard (try? scanner.expect(ASCII.comma)) != nil else { return }
            }
        }
    }
}
