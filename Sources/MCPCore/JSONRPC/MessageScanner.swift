/// Scans one JSON-RPC message: validates the whole text and notes where its parts lie.
///
/// Keys are compared byte by byte after their escapes, never by case (advisory GHSA-wvj2-96wp-fq3f); an
/// envelope key that stands twice makes the message invalid (GHSA-q382-vc8q-7jhj).
struct MessageScanner {
    private var scanner: JSONScanner
    private var head = MessageHead()
    private var seenVersion = false
    private var duplicate = false
    private var badID = false
    private var versionIsTwo = false

    /// Scans `bytes`, which hold one message with optional white space around it.
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
        scanner.skipWhitespace()
        guard scanner.peek == JSONByte.openBrace else {
            head.kind = scanner.peek == JSONByte.openBracket ? .batch : .invalid
            head.defect = .notAnObject
            try scanner.scanValue(depth: 0)
            return try scanner.finish()
        }
        try scanMembers(of: .envelope)
        try scanner.finish()
        classify()
    }

    private enum Scope { case envelope, params, meta }

    /// Scans an object whose `{` is next.
    @inline(__always)
    private mutating func scanMembers(of scope: Scope) throws(JSONError) {
        try scanner.expect(JSONByte.openBrace)
        scanner.skipWhitespace()
        if scanner.peek == JSONByte.closeBrace { return try scanner.expect(JSONByte.closeBrace) }
        while true {
            let key = try scanner.scanKey()
            switch scope {
            case .envelope: try scanEnvelopeMember(key)
            case .params: try scanParamsMember(key)
            case .meta: try scanMetaMember(key)
            }
            scanner.skipWhitespace()
            guard scanner.peek == JSONByte.comma else { return try scanner.expect(JSONByte.closeBrace) }
            try scanner.expect(JSONByte.comma)
        }
    }

    @inline(__always)
    private mutating func scanPart(depth: Int) throws(JSONError) -> MessageHead.Part {
        let start = scanner.position
        try scanner.scanValue(depth: depth)
        return MessageHead.Part(start, scanner.position)
    }

    // One copy of the loop for each scope: the compiler then sees which members it compares.
    private mutating func scanParams() throws(JSONError) { try scanMembers(of: .params) }
    private mutating func scanMeta() throws(JSONError) { try scanMembers(of: .meta) }

    private mutating func scanEnvelopeMember(_ key: JSONStringToken) throws(JSONError) {
        let first = scanner.peek
        if scanner.tokenEquals(key, "params"), first == JSONByte.openBrace {
            if head.params.isPresent { duplicate = true }
            let start = scanner.position
            try scanParams()
            head.params = MessageHead.Part(start, scanner.position)
            return
        }
        let part = try scanPart(depth: 1)
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

    private mutating func scanParamsMember(_ key: JSONStringToken) throws(JSONError) {
        if scanner.tokenEquals(key, "_meta") {
            // The last `_meta` counts, for routing as for whoever reads it later.
            head.forgetMeta()
            guard scanner.peek == JSONByte.openBrace else { return try scanner.scanValue(depth: 2) }
            let start = scanner.position
            try scanMeta()
            head.meta = MessageHead.Part(start, scanner.position)
            return
        }
        let part = try scanPart(depth: 2)
        if scanner.tokenEquals(key, "name") {
            head.name = part
        } else if scanner.tokenEquals(key, "arguments") {
            head.arguments = part
        } else if scanner.tokenEquals(key, "uri") {
            head.uri = part
        }
    }

    private mutating func scanMetaMember(_ key: JSONStringToken) throws(JSONError) {
        let part = try scanPart(depth: 3)
        if scanner.tokenEquals(key, "io.modelcontextprotocol/protocolVersion") {
            head.metaVersion = part
        } else if scanner.tokenEquals(key, "io.modelcontextprotocol/clientCapabilities") {
            head.metaCapabilities = part
        } else if scanner.tokenEquals(key, "progressToken") {
            head.progressToken = part
        }
    }

    private func isTwo(_ part: MessageHead.Part) -> Bool {
        guard part.count == 5, let start = unsafe scanner.bytes(part.range).baseAddress else { return false }
        return unsafe memoryEquals(start, ("\"2.0\"" as StaticString).utf8Start, 5)
    }

    private func isUsableID(_ part: MessageHead.Part, first: UInt8) -> Bool {
        if first == JSONByte.quote { return part.count <= RequestID.maximumBytes + 2 }
        guard first == JSONByte.minus || JSONByte.isDigit(first) else { return false }
        // Up to 18 plain digits fit 64 bits; other spellings are worked out exactly.
        if part.count <= 18, unsafe scanner.bytes(part.range).allSatisfy(JSONByte.isDigit) { return true }
        guard part.count <= RequestID.maximumBytes else { return false }
        let value: Int64? = unsafe JSONDecimal(scanner.bytes(part.range)).integer()
        return value != nil
    }

    /// Decides what the message is once all members are known.
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
        } else if hasMethod, scanner.byte(Int(head.method.start)) != JSONByte.quote {
            head.defect = .badMethod
        } else if head.defect == .badParams {
            return
        } else if hasMethod {
            head.kind = head.id.isPresent ? .request : .notification
        } else if isAnswer, head.result.isPresent != head.error.isPresent {
            // An error whose request could not be read has no id, or null (JRPC-11, JRPC-12).
            let complete = head.id.isPresent || head.error.isPresent
            head.kind = complete ? .response : .invalid
            head.defect = complete ? .none : .badResponse
        } else {
            head.defect = isAnswer ? .badResponse : .neitherRequestNorResponse
        }
    }
}
