/// The claims of a JWT access token (RFC 9068, section 2.2), read strictly.
struct JWTClaims: Sendable {
    let members: JSONObject
    let issuer: String
    let subject: String
    let audiences: [String]
    let clientID: String?
    let scopes: [String]
    /// The time of expiry, rounded down to seconds since 1970.
    let expiresAt: Int64
    /// The later of `nbf` and `iat`, rounded up; nil if there is neither.
    let validFrom: Int64?

    /// Reads the claims.
    ///
    /// - Throws: `.malformed` if a required claim is missing or a claim has a wrong type.
    init(_ members: JSONObject) throws(TokenRefusal) {
        guard let issuer = members["iss"]?.stringValue, let subject = members["sub"]?.stringValue,
            !subject.isEmpty, let expiry = members["exp"].flatMap(Self.date)
        else { throw .invalid(.malformed) }
        self.members = members
        self.issuer = issuer
        self.subject = subject
        // Small: dates are at most 2^53, also below.
        expiresAt = Int64(expiry.rounded(.down))
        audiences = if let claim = members["aud"] { try Self.strings(claim) } else { [] }
        let (client, party) = (try Self.string("client_id", members), try Self.string("azp", members))
        clientID = client ?? party
        scopes = try Self.scopes(members)
        var latest: Int64?
        for name in ["nbf", "iat"] {
            guard let claim = members[name] else { continue }
            guard let date = Self.date(claim) else { throw .invalid(.malformed) }
            // Small: as above.
            latest = max(latest ?? 0, Int64(date.rounded(.up)))
        }
        validFrom = latest
    }

    /// Whether the claims are those of an ID token (OpenID Connect Core, section 3.1.3.6).
    var looksLikeIDToken: Bool { ["nonce", "at_hash", "c_hash"].contains { members[$0] != nil } }

    /// Whether only the holder of a key or a certificate may present the token (RFC 7800, section 3.1).
    var isBoundToKey: Bool { members["cnf"] != nil }

    /// Checks that now is between the times of the token.
    ///
    /// - Parameter skew: the number of seconds by which the clocks may differ.
    func checkTimes(now: Int64, skew: Int64) throws(TokenRefusal) {
        // RFC 7519, section 4.1.4: not on or after the time of expiry.
        guard now < expiresAt &+ skew else { throw .invalid(.expired) }
        guard now &+ skew >= validFrom ?? now else { throw .invalid(.early) }
    }

    // MARK: Types

    /// A NumericDate (RFC 7519, section 2), which may have a fraction; nil for numbers beyond those that a
    /// Double represents exactly.
    private static func date(_ value: JSONValue) -> Double? {
        guard let number = value.doubleValue, number >= 0, number <= 0x1p53 else { return nil }
        return number
    }

    private static func string(_ name: String, _ members: JSONObject) throws(TokenRefusal) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.stringValue else { throw .invalid(.malformed) }
        return text
    }

    /// A string or an array of strings.
    private static func strings(_ value: JSONValue) throws(TokenRefusal) -> [String] {
        if let text = value.stringValue { return [text] }
        guard let elements = value.arrayValue else { throw .invalid(.malformed) }
        var strings: [String] = []
        for element in elements {
            guard let text = element.stringValue else { throw .invalid(.malformed) }
            strings.append(text)
        }
        return strings
    }

    /// `scope` (RFC 9068, section 2.2.3) or `scp`, each a list with spaces or an array.
    private static func scopes(_ members: JSONObject) throws(TokenRefusal) -> [String] {
        guard let value = members["scope"] ?? members["scp"] else { return [] }
        return try strings(value).flatMap { $0.split(separator: " ").map { String($0) } }
    }
}

/// The identifier of a resource (RFC 8707), as audiences contain it.
enum ResourceIdentifier {
    /// Whether both identify one resource: equal except for the case of the scheme and the host (AUTH-41,
    /// AUTH-44).
    static func same(_ a: String, _ b: String) -> Bool {
        JSONKey.same(a, b) || normalized(a).elementsEqual(normalized(b))
    }

    private static func normalized(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: ASCII.colon), bytes[colon...].starts(with: "://".utf8),
            bytes[..<colon].allSatisfy({
                isLetter($0) || (0x30 ... 0x39).contains($0) || "+-.".utf8.contains($0)
            })
        else { return bytes }
        let rest = bytes[(colon + 3)...]
        let end = rest.firstIndex { [0x2F, 0x3F, 0x23].contains($0) } ?? bytes.endIndex
        for index in 0 ..< end where isLetter(bytes[index]) { bytes[index] |= 0x20 }
        return bytes
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61 ... 0x7A).contains(byte | 0x20) }
}
