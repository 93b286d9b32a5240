/// A scanner for one JSON-RPC message that validates the whole text and records the positions of its parts.
///
/// Keys are compared byte by byte after their escapes are resolved, never ignoring case (advisory
/// GHSA-wvj2-96wp-fq3f). A duplicate envelope key makes the message invalid (GHSA-q382-vc8q-7jhj).
struct MessageScanner {
    private let scanner: JSONScanner
    private var head = MessageHead()
    private var seenVersion = false
    private var duplicate = false
    private var badID = false
    private var versionIsTwo = false

    /// Scans `bytes`, which contain one message with optional whitespace around it.
    static func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits
    ) throws(JSONError) -> MessageHead {
        var scanner = unsafe MessageScanner(scanner: JSONScanner(bytes, limits: limits))
        try scanner.scanMessage()
        return scanner.head
    }

    static func scan(_ bytes: ByteSlice, limits: JSONLimits) throws(JSONError) -> Message {
        let head = unsafe try bytes.withBytes { (buffer) throws(JSONError) in
            unsafe try scan(buffer, limits: limits)
        }
        return Message(bytes: bytes, head: head)
    }

    private init(scanner: JSONScanner) { self.scanner = scanner }

    private mutating func scanMessage() throws(JSONError) {
        let start = scanner.afterWhitespace(0)
        var end: Int
        if scanner.byte(start) == ASCII.openBrace {
            end = try scanMembers(of: .envelope, from: start + 1)
            classify()
        } else {
            head.kind = scanner.byte(start) == ASCII.openBracket ? .batch : .invalid
            head.defect = .notAnObject
            end = try scanner.afterValue(start, depth: 0)
        }
        end = scanner.afterWhitespace(end)
        guard end >= scanner.end else { throw JSONError(.trailingContent, offset: end) }
    }

    private enum Scope { case envelope, params, meta }

    /// Scans the members of an object, starting after its `{`; returns the offset after its `}`.
    ///
    /// The offset is a local variable throughout: as a member of the scanner, it would be stored and loaded
    /// at each step.
    @inline(__always)
    private mutating func scanMembers(of scope: Scope, from start: Int) throws(JSONError) -> Int {
        var index = scanner.afterWhitespace(start)
        if scanner.byte(index) == ASCII.closeBrace { return index + 1 }
        while true {
            guard scanner.byte(index) == ASCII.quote else { throw scanner.unexpected(at: index) }
            let key = try scanner.stringToken(at: index)
            index = scanner.afterWhitespace(key.end + 1)
            guard scanner.byte(index) == ASCII.colon else { throw scanner.unexpected(at: index) }
            index = scanner.afterWhitespace(index + 1)
            switch scope {
            case .envelope: index = try scanEnvelopeMember(key, at: index)
            case .params: index = try scanParamsMember(key, at: index)
            case .meta: index = try scanMetaMember(key, at: index)
            }
            index = scanner.afterWhitespace(index)
            guard scanner.byte(index) == ASCII.comma else { break }
            index = scanner.afterWhitespace(index + 1)
        }
        guard scanner.byte(index) == ASCII.closeBrace else { throw scanner.unexpected(at: index) }
        return index + 1
    }

    /// Returns the offset after a member's value. Most values are strings, which need no stack of containers.
    @inline(__always)
    private func afterMember(_ start: Int, depth: Int) throws(JSONError) -> Int {
        scanner.byte(start) == ASCII.quote
            ? try scanner.afterString(start) : try scanner.afterValue(start, depth: depth)
    }

    // There is one copy of the loop for each scope, so that the compiler knows which members it compares.
    private mutating func scanParams(from start: Int) throws(JSONError) -> Int {
        try scanMembers(of: .params, from: start)
    }

    private mutating func scanMeta(from start: Int) throws(JSONError) -> Int {
        try scanMembers(of: .meta, from: start)
    }

    @inline(__always)
    private mutating func scanEnvelopeMember(
        _ key: JSONStringToken, at start: Int
    ) throws(JSONError) -> Int {
        let first = scanner.byte(start)
        if first == ASCII.openBrace, scanner.tokenEquals(key, "params") {
            if head.params.isPresent { duplicate = true }
            let end = try scanParams(from: start + 1)
            head.params = MessageHead.Part(start, end)
            return end
        }
        let end = try afterMember(start, depth: 1)
        note(MessageHead.Part(start, end), first: first, key)
        return end
    }

    @inline(__always)
    private mutating func note(_ part: MessageHead.Part, first: UInt8, _ key: JSONStringToken) {
        if scanner.tokenEquals(key, "jsonrpc") {
            if seenVersion { duplicate = true }
            seenVersion = true
            versionIsTwo = isTwo(part)
        } else if scanner.tokenEquals(key, "id") {
            if head.id.isPresent || badID { duplicate = true }
            if isUsableID(part, first: first) { head.id = part } else { badID = true }
        } else if scanner.tokenEquals(key, "method") {
            if head.method.isPresent { duplicate = true }
            head.method = part
        } else if scanner.tokenEquals(key, "params") {
            if head.params.isPresent { duplicate = true }
            head.params = part
            head.defect = .badParams
        } else if scanner.tokenEquals(key, "result") {
            if head.result.isPresent { duplicate = true }
            head.result = part
        } else if scanner.tokenEquals(key, "error") {
            if head.error.isPresent { duplicate = true }
            head.error = part
        }
    }

    @inline(__always)
    private mutating func scanParamsMember(
        _ key: JSONStringToken, at start: Int
    ) throws(JSONError) -> Int {
        if scanner.tokenEquals(key, "_meta") {
            // The last `_meta` counts, both for routing and for later readers.
            head.forgetMeta()
            guard scanner.byte(start) == ASCII.openBrace else {
                return try scanner.afterValue(start, depth: 2)
            }
            let end = try scanMeta(from: start + 1)
            head.meta = MessageHead.Part(start, end)
            return end
        }
        let end = try afterMember(start, depth: 2)
        if scanner.tokenEquals(key, "name") {
            head.name = MessageHead.Part(start, end)
        } else if scanner.tokenEquals(key, "arguments") {
            head.arguments = MessageHead.Part(start, end)
        } else if scanner.tokenEquals(key, "uri") {
            head.uri = MessageHead.Part(start, end)
        }
        return end
    }

    @inline(__always)
    private mutating func scanMetaMember(
        _ key: JSONStringToken, at start: Int
    ) throws(JSONError) -> Int {
        let end = try afterMember(start, depth: 3)
        if scanner.tokenEquals(key, "io.modelcontextprotocol/protocolVersion") {
            head.metaVersion = MessageHead.Part(start, end)
        } else if scanner.tokenEquals(key, "io.modelcontextprotocol/clientCapabilities") {
            head.metaCapabilities = MessageHead.Part(start, end)
        } else if scanner.tokenEquals(key, "progressToken") {
            head.progressToken = MessageHead.Part(start, end)
        } else if scanner.tokenEquals(key, "io.modelcontextprotocol/logLevel") {
            head.metaLogLevel = MessageHead.Part(start, end)
        }
        return end
    }

    private func isTwo(_ part: MessageHead.Part) -> Bool {
        guard part.count == 5, let start = unsafe scanner.bytes(part.range).baseAddress else { return false }
        return unsafe memoryEquals(start, ("\"2.0\"" as StaticString).utf8Start, 5)
    }

    private func isUsableID(_ part: MessageHead.Part, first: UInt8) -> Bool {
        if first == ASCII.quote { return part.count <= RequestID.maxBytes + 2 }
        guard first == ASCII.minus || ASCII.isDigit(first) else { return false }
        // Up to 18 plain digits fit in 64 bits; other spellings are evaluated exactly.
        if part.count <= 18, unsafe scanner.bytes(part.range).allSatisfy(ASCII.isDigit) { return true }
        guard part.count <= RequestID.maxBytes else { return false }
        let value: Int64? = unsafe JSONDecimal(scanner.bytes(part.range)).integer()
        return value != nil
    }

    /// Determines the kind of the message once all members are known.
    private mutating func classify() {
        let hasMethod = head.method.isPresent
        let isAnswer = head.result.isPresent || head.error.isPresent
        head.kind = .invalid
        if duplicate {
            head.defect = .duplicateMember
        } else if !versionIsTwo {
            head.defect = .wrongVersion
        } else if badID && !(isAnswer && !hasMethod) {
            head.defect = .badID
        } else if hasMethod, isAnswer {
            head.defect = .badResponse
            // Small: converted from a narrower number.
        } else if hasMethod, scanner.byte(Int(head.method.start)) != ASCII.quote {
            head.defect = .badMethod
        } else if head.defect == .badParams {
            return
        } else if hasMethod {
            head.kind = head.id.isPresent ? .request : .notification
        } else if isAnswer, head.result.isPresent != head.error.isPresent {
            // An error response to an unreadable request has no id or a null id (JRPC-11, JRPC-12).
            let complete = head.id.isPresent || head.error.isPresent
            head.kind = complete ? .response : .invalid
            head.defect = complete ? .none : .badResponse
        } else {
            head.defect = isAnswer ? .badResponse : .neitherRequestNorResponse
        }
    }
}
