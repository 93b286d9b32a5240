/// What a client has presented to its server, and the removal of it from everything that the server sends
/// back and that leaves the client as a text for people: traces, errors, log messages, progress.
///
/// A client without credentials has none of this. Results of calls stay as they are.
struct ClientSecrets: Sendable {
    private let known = KnownSecrets()
    /// Removes what is secret in the configuration of the client, wherever it was put.
    private let maskConfigured: (@Sendable (String) -> String)?
    private let authorizer: (any RequestAuthorizer)?

    /// Creates what a client with these options needs; nil if it has no credentials.
    ///
    /// - Parameter url: the address of the server, whose query may have some.
    init?(_ options: ClientOptions, url: String? = nil) {
        let fields = options.headers.filter { Self.isSecret($0.0) }.map { (name: $0.0, value: $0.1) }
        let query = url.map(Self.secrets(inQueryOf:)) ?? []
        if fields.isEmpty, query.isEmpty, options.authorizer == nil, options.maskConfigured == nil {
            return nil
        }
        maskConfigured = options.maskConfigured
        authorizer = options.authorizer
        for text in query { known.note(text) }
        note(fields)
    }

    /// The bytes from which a value in a query is taken for a secret, whatever its name is.
    private static let longValueBytes = 16

    /// Returns the values in the query of a URL that may be secret, and other members as a whole: the value
    /// of `mode=fast` is a word of any text.
    private static func secrets(inQueryOf url: String) -> [String] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        return url[mark...].dropFirst().prefix { $0 != "#" }.split(separator: "&").flatMap { member in
            let name = member.prefix { $0 != "=" }
            let value = member.dropFirst(name.count + 1)
            let isAlone =
                value.utf8.count >= KnownSecrets.minBytes && isSecret(String(name))
                || value.utf8.count >= longValueBytes
            let text = isAlone ? value : member
            return [String(text), PercentCoding.decode(text.utf8)].compactMap(\.self)
        }
    }

    private static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["auth", "cookie", "key", "secret", "token"].contains { name.contains($0) }
    }

    /// Remembers the fields of a request.
    func note(_ fields: [(name: String, value: String)]) {
        // A proof is good for one request only.
        for (name, value) in fields where !ASCII.equalsIgnoringCase(name.utf8, "dpop".utf8) {
            // The scheme of credentials is not secret (RFC 9110, section 11.4).
            let parts = value.split(separator: " ", maxSplits: 1)
            guard name.lowercased().hasSuffix("authorization"), parts.count == 2 else {
                known.note(value)
                continue
            }
            known.note(String(parts[1]))
            guard parts[0].lowercased() == "basic", let pair = Base64.decode(parts[1].utf8) else { continue }
            known.note(String(decoding: pair.drop { $0 != UInt8(ascii: ":") }.dropFirst(), as: UTF8.self))
        }
    }

    func mask(_ text: String) -> String {
        let masked = known.mask(maskConfigured?(text) ?? text)
        return authorizer?.masking(masked) ?? masked
    }

    func mask(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(mask(text))
        case .array(let elements): .array(elements.map { mask($0) })
        case .object(let members):
            .object(JSONObject(members.map { (key: mask($0.key), value: mask($0.value)) }))
        default: value
        }
    }

    func mask(_ error: ClientError) -> ClientError {
        var error = error
        error.message = mask(error.message)
        error.details = error.details.map { mask($0) }
        error.hint = error.hint.map { mask($0) }
        return error
    }

    func mask(_ error: MCPError) -> MCPError {
        var error = error
        error.message = mask(error.message)
        error.data = error.data.map { mask($0) }
        return error
    }

    func mask(_ reply: ClientCall.Reply) -> ClientCall.Reply {
        switch reply {
        case .result: reply
        case .refused(let error, let status): .refused(mask(error), status: status)
        case .failed(let error): .failed(mask(error))
        }
    }

    func mask(_ message: LogMessage) -> LogMessage {
        var message = message
        message.logger = message.logger.map { mask($0) }
        message.data = mask(message.data)
        return message
    }

    func mask(_ progress: ProgressReport) -> ProgressReport {
        var progress = progress
        progress.message = progress.message.map { mask($0) }
        return progress
    }

    func mask(_ event: TraceEvent) -> TraceEvent {
        switch event {
        case .sent(let method, let bytes): .sent(method: method, bytes: mask(bytes))
        case .received(let bytes): .received(bytes: mask(bytes))
        case .httpRequest(let head): .httpRequest(head: mask(head))
        case .httpResponse(let status, let head): .httpResponse(status: status, head: mask(head))
        case .garbage(let text): .garbage(mask(text))
        case .warning(let text): .warning(mask(text))
        case .stderr(let text): .stderr(mask(text))
        }
    }

    /// Returns at most `count` bytes of a text, from which secrets are removed before it is cut.
    static func shortened(_ bytes: ByteSlice, to count: Int, _ secrets: ClientSecrets?) -> String {
        guard let secrets else { return String(bytes.count > count ? bytes[0 ..< count] : bytes) }
        // With encodings, a secret is several times as long.
        let some = bytes[0 ..< min(bytes.count, count + 8 * KnownSecrets.maxBytes)]
        let text = String(some) + (some.count < bytes.count ? "…" : "")
        return String(decoding: secrets.mask(text).utf8.prefix(count), as: UTF8.self)
    }

    private func mask(_ bytes: ByteSlice) -> ByteSlice {
        let text = String(bytes)
        let masked = mask(text)
        return masked == text ? bytes : ByteSlice(masked)
    }
}

extension ClientOptions {
    /// The same options with a trace from which the client's secrets are removed.
    func guarded(at url: String?) -> ClientOptions {
        guard let secrets = ClientSecrets(self, url: url) else { return self }
        var options = self
        options.secrets = secrets
        if let trace { options.trace = { trace(secrets.mask($0)) } }
        return options
    }
}
