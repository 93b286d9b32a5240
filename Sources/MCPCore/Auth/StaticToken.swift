/// The record of one static token: its name and its rights, but not the token itself.
///
/// Encode it to keep it: the digest of a token is not a secret that can be presented.
public struct StaticToken: Sendable, Hashable, Codable {
    /// The name, which is the subject of the token's principal.
    public let name: String
    /// The SHA-256 digest of the token, as 64 hexadecimal digits in lower case.
    public let digest: String
    /// The scopes that the token grants.
    public let scopes: [String]
    /// The patterns of the names that the token may use beside those of its scopes (`AccessRules`); nil: its
    /// scopes alone decide, and without rules it may use everything.
    public let allow: [String]?
    /// The time at which the token expires, in seconds since 1970; nil if it does not.
    public let expiresAt: Int64?
    /// The rate of its requests; nil for that of `ServerAuthorization`.
    public let rate: RateLimit?

    /// Creates the record of a token from its digest, as read from a file.
    public init(
        name: String, digest: String, scopes: [String] = [], allow: [String]? = nil, expiresAt: Int64? = nil,
        rate: RateLimit? = nil
    ) {
        self.name = name
        self.digest = digest
        self.scopes = scopes
        self.allow = allow
        self.expiresAt = expiresAt
        self.rate = rate
    }

    /// Creates the record of a token that was made before, such as one from an environment variable. Returns
    /// nil if the text does not have the form of a static token, or its check characters are wrong.
    public init?(
        name: String, token: String, scopes: [String] = [], allow: [String]? = nil, expiresAt: Int64? = nil
    ) {
        guard Self.isWellFormed(token) else { return nil }
        self.init(
            name: name, digest: Self.digest(of: token), scopes: scopes, allow: allow, expiresAt: expiresAt)
    }

    /// A new token together with its record.
    public struct New: Sendable, CustomStringConvertible {
        /// The token. Show it to its owner once, and do not keep it.
        public let token: String
        /// The record to keep.
        public let record: StaticToken

        /// The record alone, so that no log shows the token (AUTH-43).
        public var description: String { "(a token of \(record.name))" }
    }

    /// Makes a new token from 256 random bits.
    public static func make(
        name: String, scopes: [String] = [], allow: [String]? = nil, expiresAt: Int64? = nil,
        rate: RateLimit? = nil
    ) -> New {
        let body = prefix + Base64URL.encode(SystemRandom().bytes(secretBytes))
        let token = body + check(of: body)
        let record = StaticToken(
            name: name, digest: digest(of: token), scopes: scopes, allow: allow, expiresAt: expiresAt,
            rate: rate)
        return New(token: token, record: record)
    }

    // MARK: Form

    /// The first characters of each static token, by which scanners for leaked secrets recognize it.
    public static let prefix = "mcps_"
    private static let secretBytes = 32
    private static let secretCharacters = 43
    private static let checkCharacters = 6

    /// Returns whether a text has the form of a static token, and its last characters are those that its
    /// others require: a token with a typing error is recognized without any record.
    public static func isWellFormed(_ text: String) -> Bool {
        let secret = text.utf8.dropFirst(prefix.utf8.count).dropLast(checkCharacters)
        guard text.hasPrefix(prefix), secret.count == secretCharacters,
            Base64URL.decode(secret)?.count == secretBytes
        else { return false }
        return text == text.prefixWithoutCheck + check(of: text.prefixWithoutCheck)
    }

    private static func check(of text: String) -> String {
        String(Base64URL.encode(SHA256.hash(Array(text.utf8)).bytes).prefix(checkCharacters))
    }

    static func digest(of token: String) -> String { Hex.encode(SHA256.hash(Array(token.utf8)).bytes) }
}

extension String {
    /// The text of a static token before its check characters.
    fileprivate var prefixWithoutCheck: String { String(decoding: utf8.dropLast(6), as: UTF8.self) }
}
