/// The decision about how a message is served: the era, the revision and the method, in the order of Table 2.
enum Classifier {
    struct Verdict: Sendable {
        let isModern: Bool
        let revision: Revision
        let entry: MethodEntry
    }

    /// Classifies a request or notification. `session` is the outcome of `initialize`.
    static func classify(
        _ message: Message, claims: HeaderClaims?, session: NegotiatedSession?
    ) throws(Refusal) -> Verdict {
        let head = message.head
        guard head.kind == .request || head.kind == .notification else {
            throw Refusal(.invalidRequest("Invalid request: \(head.defect.text)"))
        }
        return head.metaVersion.isPresent
            ? try modern(message, claims: claims)
            : try legacyVerdict(message, claims: claims, session: session)
    }

    // MARK: Modern

    private static func modern(
        _ message: Message, claims: HeaderClaims?
    ) throws(Refusal) -> Verdict {
        let head = message.head
        // Read once: each access to the bytes through the message would copy it.
        let bytes = message.bytes
        let named = bytes[head.metaVersion.range]
        let isServed = named.equals("\"2026-07-28\"")
        if let claims {
            guard let header = claims.version else {
                throw .headerMismatch("The header MCP-Protocol-Version is missing")
            }
            guard !claims.isRepeated else { throw .headerMismatch("Duplicate MCP header") }
            if !claims.equals(header, content: named) {
                throw .headerMismatch(
                    "MCP-Protocol-Version is '\(claims.text(header) ?? "")', "
                        + "but the body specifies \(String(named))")
            }
        }
        guard isServed else {
            let requested = RawJSON(unchecked: named)
            guard requested.kind == .string else {
                throw .missingMeta("_meta io.modelcontextprotocol/protocolVersion must be a string")
            }
            throw .unsupportedVersion(requested.value)
        }
        guard head.metaCapabilities.isPresent,
            // Small: from a narrower number.
            bytes[Int(head.metaCapabilities.start)] == UInt8(ascii: "{")
        else {
            throw .missingMeta(
                "_meta io.modelcontextprotocol/clientCapabilities is missing; send {} if there are none")
        }
        let method = bytes[head.method.range]
        if let claims { try compare(claims, with: message, method) }
        guard let entry = WireEra.modern.methods.entry(for: method) else {
            throw Refusal(.methodNotFound(message.method))
        }
        if let claims {
            // A name with escapes: the header has the name itself, for whatever routes by it.
            if entry.name.utf8CodeUnitCount != method.count - 2, claims.method != nil,
                claims.text(claims.method) != message.method
            {
                throw mismatch(claims, with: message)
            }
            try compareName(claims, with: message, entry)
        }
        return Verdict(isModern: true, revision: .newest, entry: entry)
    }

    /// `Mcp-Method` is required of requests; a notification may leave it out (AMB-3).
    @inline(__always)
    private static func compare(
        _ claims: HeaderClaims, with message: Message, _ method: ByteSlice
    ) throws(Refusal) {
        guard let header = claims.method else {
            if message.head.kind == .notification { return }
            throw .headerMismatch("The header Mcp-Method is missing")
        }
        if claims.equals(header, content: method) { return }
        if claims.text(header) == message.method { return }
        throw mismatch(claims, with: message)
    }

    private static func mismatch(_ claims: HeaderClaims, with message: Message) -> Refusal {
        .headerMismatch(
            "Mcp-Method is '\(claims.text(claims.method) ?? "")', but the body specifies '\(message.method)'")
    }

    @inline(__always)
    private static func compareName(
        _ claims: HeaderClaims, with message: Message, _ entry: MethodEntry
    ) throws(Refusal) {
        let value: ByteSlice
        if entry.flags.contains(.mirrorsTask) {
            guard let task = message.params?["taskId"] else { return }
            value = task.bytes
        } else {
            let part =
                entry.flags.contains(.mirrorsName)
                ? message.head.name
                : entry.flags.contains(.mirrorsURI) ? message.head.uri : MessageHead.Part()
            guard part.isPresent else { return }
            value = message.bytes[part.range]
        }
        // Without a string in the body, there is nothing to compare with: decoding refuses it (AMB-14).
        guard value.first == UInt8(ascii: "\"") else { return }
        guard let header = claims.name else { throw .headerMismatch("The header Mcp-Name is missing") }
        if claims.equals(header, content: value), !claims.mayBeEncoded(header), !value.contains(0x5C) {
            return
        }
        try compareEncodedName(claims, header, RawJSON(unchecked: value).string ?? "")
    }

    private static func compareEncodedName(
        _ claims: HeaderClaims, _ header: Range<Int>, _ expected: String
    ) throws(Refusal) {
        guard let decoded = MCPHeaderValue.decode(claims.bytes[header]) else {
            throw .headerMismatch("Mcp-Name is not a valid header value")
        }
        guard decoded == expected else {
            throw .headerMismatch("Mcp-Name is '\(decoded)', but the body specifies '\(expected)'")
        }
    }

    // MARK: Legacy

    private static func legacyVerdict(
        _ message: Message, claims: HeaderClaims?, session: NegotiatedSession?
    ) throws(Refusal) -> Verdict {
        let named = claims?.version.flatMap { Revision.named(claims?.bytes[$0] ?? ByteSlice()) }
        if let claims, let version = claims.version {
            guard let named else {
                throw Refusal(
                    .invalidRequest("Unknown protocol version '\(claims.text(version) ?? "")'"), status: 400)
            }
            if named.isModern {
                throw .missingMeta("_meta io.modelcontextprotocol/protocolVersion is missing")
            }
        }
        let method = message.bytes[message.head.method.range]
        guard let entry = WireEra.legacy.methods.entry(for: method) else {
            if session != nil { throw Refusal(.methodNotFound(message.method)) }
            throw notInitialized(message)
        }
        if let session { return Verdict(isModern: false, revision: session.revision, entry: entry) }
        guard entry.flags.contains(.beforeInitialize) || entry.flags.contains(.notification) else {
            throw notInitialized(message)
        }
        return Verdict(isModern: false, revision: named ?? .newestLegacy, entry: entry)
    }

    private static func notInitialized(_ message: Message) -> Refusal {
        // Only requests of 2026-07-28 have capabilities in `_meta` (META-10).
        if message.head.metaCapabilities.isPresent {
            return .missingMeta("_meta io.modelcontextprotocol/protocolVersion is missing")
        }
        return Refusal(
            .invalidRequest(
                "\(message.method) requires 'initialize' first, or a protocol version in _meta"), status: 400)
    }
}
