/// The creation and verification of `requestState`, which a stateless request carries from one round of
/// questions to the next.
///
/// It contains the answers so far and the state that the handler wants to keep, protected by a MAC (MRTR-09).
/// It is bound to the principal, to the request that it was created for, and to a time (MRTR-10), and each
/// answer to the question that it was given to. The client can read it.
struct RequestState: Sendable {
    /// The identity of the rounds of one call. All states of the call share it, so that they are used up
    /// together (MRTR-11).
    struct Chain: Sendable, Hashable {
        let high: UInt64
        let low: UInt64
    }

    struct Content: Sendable, Equatable {
        var chain: Chain
        /// The answers by key.
        var answers: [String: JSONValue]
        /// The codes of the questions that were asked, by key: those of the answers, and those of the round
        /// that the state belongs to.
        var questions: [String: [UInt8]] = [:]
        var handlerState: JSONValue?
    }

    /// The time at which a state was made, by a clock that nobody can set. It says something only to the
    /// ledger that it names.
    struct Birth: Sendable, Equatable {
        /// The ledger that counts the time.
        let ledger: UInt64
        /// The time since that ledger was created, in nanoseconds.
        let age: Int64
    }

    struct Opened: Sendable {
        let content: Content
        let birth: Birth
        /// The number of seconds until the state expires, at least 1.
        let remaining: Int64
    }

    /// The request that a state belongs to.
    struct Purpose: Sendable {
        fileprivate let digest: [UInt8]

        /// - Parameters:
        ///   - name: the name of the tool or prompt, or the URI of the resource.
        ///   - arguments: the arguments, compared by value: white space and the order of members do not
        ///     matter.
        init(method: String, name: String, arguments: JSONValue) {
            var hasher = SHA256()
            hasher.add(method)
            hasher.add(name)
            hasher.add(arguments)
            digest = hasher.finalize().bytes
        }
    }

    enum Refusal: Error {
        case foreign, expired, early, otherRequest
    }

    /// The longest `requestState`, in bytes.
    static let maxBytes = 64 * 1024
    /// The largest difference between the clocks of instances, in seconds.
    static let skew: Int64 = 60

    /// Returns the time for which the use of a state is remembered: a day, or as long as the state may be
    /// valid.
    ///
    /// The wall clock tells the age of a state of another instance or of an earlier run. While it is set back
    /// by less than a day, nothing that such a clock makes valid again has been forgotten.
    static func memory(lifetime: Duration) -> Duration { max(.seconds(24 * 3600), lifetime + .seconds(skew)) }

    private let keys: StateKeys
    /// The number of seconds for which a state is valid.
    let lifetime: Int64
    private static let format: UInt8 = 2
    private static let digestBytes = 32
    private static let macBytes = 32
    private static let markBytes = 16
    private static let saltBytes = 8
    /// The length of the header: format, expiry, chain, birth, salt, digest.
    private static let headBytes = 1 + 8 + 16 + 16 + saltBytes + digestBytes

    /// - Parameter lifetime: the number of seconds for which a state is valid.
    init(keys: StateKeys, lifetime: Int64) {
        self.keys = keys
        self.lifetime = max(0, lifetime)
    }

    /// Returns the state as text, or nil if it would be longer than `maxBytes`.
    ///
    /// - Parameters:
    ///   - birth: the current time of the ledger.
    ///   - now: the current time in seconds since 1970.
    ///   - salt: 8 random bytes, which make the state of each round different.
    func seal(
        _ content: Content, for purpose: Purpose, principal: String, birth: Birth, now: Int64, salt: [UInt8]
    ) -> String? {
        var payload: JSONObject = ["answers": .object(JSONObject(content.answers.map { ($0.key, $0.value) }))]
        if !content.questions.isEmpty {
            var marks = JSONObject()
            for (key, mark) in content.questions { marks[key] = .string(Base64URL.encode(mark)) }
            payload["questions"] = .object(marks)
        }
        if let state = content.handlerState { payload["state"] = state }
        var writer = JSONWriter()
        writer.value(.object(payload))
        guard writer.failure == nil else { return nil }
        let json = writer.finish()
        guard json.count < Self.maxBytes else { return nil }
        var body: [UInt8] = [Self.format]
        let (expiry, overflow) = now.addingReportingOverflow(lifetime)
        body += Self.bytes(UInt64(bitPattern: overflow ? .max : expiry))
        body += Self.bytes(content.chain.high) + Self.bytes(content.chain.low)
        body += Self.bytes(birth.ledger) + Self.bytes(UInt64(bitPattern: birth.age))
        body += salt.prefix(Self.saltBytes)
        body += purpose.digest
        body += json
        let text = Base64URL.encode(
            body + keys.sign(Self.macBytes) { Self.add(body, principal, to: &$0) })
        return text.utf8.count <= Self.maxBytes ? text : nil
    }

    /// Returns what a state says.
    ///
    /// A state that would be valid for longer than one that is made now, was made while a clock was ahead. It
    /// is refused: nobody remembers its use for that long.
    ///
    /// - Parameter now: the current time in seconds since 1970.
    func open(
        _ text: String, for purpose: Purpose, principal: String, now: Int64
    ) throws(Refusal) -> Opened {
        guard text.utf8.count <= Self.maxBytes, let bytes = Base64URL.decode(text),
            bytes.count > Self.headBytes + Self.macBytes
        else { throw .foreign }
        let body = Array(bytes.dropLast(Self.macBytes))
        let mac = bytes.suffix(Self.macBytes)
        guard keys.verify(mac, Self.macBytes, { Self.add(body, principal, to: &$0) }),
            body[0] == Self.format
        else { throw .foreign }
        let expiry = Int64(bitPattern: Self.number(body[1 ..< 9]))
        guard now < expiry else { throw .expired }
        let (remaining, overflow) = expiry.subtractingReportingOverflow(now)
        guard !overflow, remaining <= lifetime || remaining - lifetime <= Self.skew else { throw .early }
        guard body[Self.headBytes - Self.digestBytes ..< Self.headBytes].elementsEqual(purpose.digest)
        else { throw .otherRequest }
        let json = ByteSlice(Array(body[Self.headBytes...]))
        guard
            let payload = try? JSONValue(
                parsing: json, limits: JSONLimits(maxDepth: JSONLimits.greatestDepth)),
            let answers = payload["answers"]?.objectValue
        else { throw .foreign }
        var content = Content(
            chain: Chain(high: Self.number(body[9 ..< 17]), low: Self.number(body[17 ..< 25])),
            answers: Dictionary(answers.map { ($0.key, $0.value) }) { $1 },
            handlerState: payload["state"])
        for (key, mark) in payload["questions"]?.objectValue ?? [:] {
            content.questions[key] = mark.stringValue.flatMap { Base64URL.decode($0) }
        }
        let birth = Birth(
            ledger: Self.number(body[25 ..< 33]), age: Int64(bitPattern: Self.number(body[33 ..< 41])))
        return Opened(content: content, birth: birth, remaining: remaining)
    }

    // MARK: Questions

    /// Returns the code of a question, which tells the client nothing about its parts.
    ///
    /// - Parameter parts: everything that the answer is an answer to.
    func mark(of parts: [[UInt8]]) -> [UInt8] { keys.sign(Self.markBytes) { Self.add(parts, to: &$0) } }

    /// Whether a code is that of a question.
    func isMark(_ mark: [UInt8], of parts: [[UInt8]]) -> Bool {
        keys.verify(mark, Self.markBytes) { Self.add(parts, to: &$0) }
    }

    /// Returns the digest of a value, in which white space and the order of members do not matter.
    static func digest(of value: JSONValue) -> [UInt8] {
        var hasher = SHA256()
        hasher.add(value)
        return hasher.finalize().bytes
    }

    private static func add(_ parts: [[UInt8]], to code: inout HMACSHA256) {
        code.update("question".utf8)
        for part in parts {
            code.update(bytes(UInt64(part.count)))
            code.update(part)
        }
    }

    private static func add(_ body: [UInt8], _ principal: String, to code: inout HMACSHA256) {
        code.update("requestState".utf8)
        code.update(bytes(UInt64(principal.utf8.count)))
        code.update(principal.utf8)
        code.update(body)
    }

    fileprivate static func bytes(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        // Small: from bytes.
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension SHA256 {
    fileprivate mutating func add(_ text: String) {
        update(RequestState.bytes(UInt64(text.utf8.count)))
        update(Array(text.utf8))
    }

    /// Adds a value such that equal bytes mean equal values. It recurses as deeply as JSON is parsed, which
    /// is limited.
    fileprivate mutating func add(_ value: JSONValue) {
        switch value {
        case .null: update([0x6E])
        case .bool(let flag): update([flag ? 0x74 : 0x66])
        case .number(let number):
            update([0x23])
            add(number.description)
        case .string(let text):
            update([0x22])
            add(text)
        case .array(let elements):
            update([0x5B])
            update(RequestState.bytes(UInt64(elements.count)))
            for element in elements { add(element) }
        case .object(let object):
            update([0x7B])
            update(RequestState.bytes(UInt64(object.count)))
            let members = object.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (key, value) in members {
                add(key)
                add(value)
            }
        }
    }
}
