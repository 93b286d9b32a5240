/// A reader that builds a `JSONValue` from text.
///
/// The members and elements of all open containers are on two stacks; when a container is closed, its own are
/// moved out with one allocation of the right size. The recursion is bounded by the depth limit (at most
/// 128).
struct JSONTreeReader: ~Copyable {
    private var scanner: JSONScanner
    private var members = JSONStack<JSONObject.Member>()
    private var values = JSONStack<JSONValue>()
    private var prints = JSONStack<UInt64>()

    private init(_ scanner: JSONScanner) { self.scanner = scanner }

    /// Reads a whole text.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits) throws(JSONError) -> JSONValue
    {
        guard bytes.count <= limits.maxBytes else { throw JSONError(.tooLarge(limits.maxBytes)) }
        var reader = JSONTreeReader(unsafe JSONScanner(bytes, limits: limits))
        let value = try reader.readValue(depth: 0)
        try reader.scanner.finish()
        return value
    }

    /// Reads the value at the scanner's position and advances past it.
    static func read(_ scanner: inout JSONScanner, depth: Int) throws(JSONError) -> JSONValue {
        var reader = JSONTreeReader(scanner)
        let value = try reader.readValue(depth: depth)
        scanner.position = reader.scanner.position
        return value
    }

    private mutating func readValue(depth: Int) throws(JSONError) -> JSONValue {
        scanner.skipWhitespace()
        switch scanner.peek {
        case ASCII.quote:
            return .string(scanner.unescape(try scanner.scanString()))
        case ASCII.openBrace:
            return try readObject(depth: depth)
        case ASCII.openBracket:
            return try readArray(depth: depth)
        case 0x74, 0x66, 0x6E:
            let first = scanner.peek
            scanner.position = try scanner.afterLiteral(scanner.position)
            return first == 0x6E ? .null : .bool(first == 0x74)
        default:
            return .number(JSONNumber(scanned: scanner.string(try scanner.scanNumber(), isASCII: true)))
        }
    }

    private mutating func readArray(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < scanner.maxDepth else { throw scanner.tooDeep(at: scanner.position) }
        scanner.position += 1
        scanner.skipWhitespace()
        if scanner.peek == ASCII.closeBracket {
            scanner.position += 1
            return .array([])
        }
        let mark = values.count
        while true {
            values.push(try readValue(depth: depth + 1))
            scanner.skipWhitespace()
            guard scanner.peek == ASCII.comma else { break }
            scanner.position += 1
        }
        try scanner.expect(ASCII.closeBracket)
        return .array(values.popArray(to: mark))
    }

    private mutating func readObject(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < scanner.maxDepth else { throw scanner.tooDeep(at: scanner.position) }
        scanner.position += 1
        scanner.skipWhitespace()
        if scanner.peek == ASCII.closeBrace {
            scanner.position += 1
            return .object(JSONObject())
        }
        let mark = members.count
        while true {
            let token = try scanner.scanKey()
            let key = scanner.unescape(token)
            let print = token.hasEscapes ? Self.fingerprint(of: key) : scanner.fingerprint(token.content)
            // A member is pushed onto the stacks only when it is complete, because its value may be an object
            // with members.
            let value = try readValue(depth: depth + 1)
            prints.push(print)
            members.push(JSONObject.Member(key: key, value: value))
            scanner.skipWhitespace()
            guard scanner.peek == ASCII.comma else { break }
            scanner.position += 1
        }
        try scanner.expect(ASCII.closeBrace)
        return .object(closeObject(mark))
    }

    private mutating func closeObject(_ mark: Int) -> JSONObject {
        let count = members.count - mark
        // The fingerprints of the members are at the same positions on their own stack.
        let hasRepeats =
            count <= JSONObject.linearLimit
            ? prints.hasEqual(from: mark) : true
        prints.drop(to: mark)
        let list = members.popArray(to: mark)
        return hasRepeats ? Self.merge(list) : JSONObject(unique: list)
    }

    /// Builds an object that is large or may contain equal keys: the last value wins, at the position of the
    /// first.
    private static func merge(_ list: [JSONObject.Member]) -> JSONObject {
        var table = [JSONKey: Int](minimumCapacity: list.count)
        var unique: [JSONObject.Member] = []
        unique.reserveCapacity(list.count)
        for member in list {
            let place = table[JSONKey(name: member.key), default: unique.count]
            if place == unique.count {
                table[JSONKey(name: member.key)] = place
                unique.append(member)
            } else {
                unique[place].value = member.value
            }
        }
        return JSONObject(unique: unique, table: unique.count > JSONObject.linearLimit ? table : nil)
    }

    private static func fingerprint(of key: String) -> UInt64 {
        var key = key
        return key.withUTF8 { unsafe JSONScanner($0).fingerprint(0 ..< $0.count) }
    }
}
