/// A challenge of a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
struct AuthenticationChallenge: Sendable, Hashable {
    /// The greatest number of challenges that are read from one response.
    static let maxCount = 8
    /// The greatest size of all fields of one response; more are not read.
    static let maxBytes = 8 << 10

    /// The scheme in lower case.
    let scheme: String
    /// The credentials in the form of a token68, which some schemes have instead of parameters.
    let token68: String?
    /// The values of the parameters, by their names in lower case.
    let parameters: [String: String]

    /// Reads the challenges of all fields of a response, in order (AUTH-05).
    ///
    /// A challenge with a parameter that occurs twice is left out, and so is one that is malformed, with the
    /// rest of its field. Values of parameters without quotes may contain more characters than a token,
    /// because servers send URLs that way.
    static func parse(_ fields: [String]) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        var bytes = 0
        for field in fields {
            bytes += field.utf8.count
            if bytes > maxBytes { break }
            var reader = ChallengeReader(Array(field.utf8))
            while challenges.count < maxCount, let found = reader.next() {
                if let challenge = found.challenge { challenges.append(challenge) }
            }
        }
        return challenges
    }
}

/// A reader for the challenges of one field.
private struct ChallengeReader {
    /// A challenge; without one it is void.
    struct Found { let challenge: AuthenticationChallenge? }

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the next challenge; nil at the end or before something malformed.
    mutating func next() -> Found? {
        skipSeparators()
        guard let scheme = token() else {
            index = bytes.count
            return nil
        }
        var parameters: [String: String] = [:]
        var isVoid = false
        if index < bytes.count, ASCII.isBlank(bytes[index]) {
            skipBlanks()
            if let text = token68() {
                return Found(
                    challenge: AuthenticationChallenge(
                        scheme: scheme.lowercased(), token68: text, parameters: [:]))
            }
        } else if index < bytes.count, bytes[index] != ASCII.comma {
            index = bytes.count
            return nil
        }
        while isAtParameter() {
            guard let name = token(), skipEquals(), let value = value() else {
                index = bytes.count
                return nil
            }
            if parameters.updateValue(value, forKey: name.lowercased()) != nil { isVoid = true }
        }
        let challenge = AuthenticationChallenge(
            scheme: scheme.lowercased(), token68: nil, parameters: parameters)
        return Found(challenge: isVoid ? nil : challenge)
    }

    private mutating func skipBlanks() {
        while index < bytes.count, ASCII.isBlank(bytes[index]) { index += 1 }
    }

    private mutating func skipSeparators() {
        while index < bytes.count, ASCII.isBlank(bytes[index]) || bytes[index] == ASCII.comma { index += 1 }
    }

    private mutating func token() -> String? {
        let start = index
        while index < bytes.count, ASCII.isToken(bytes[index]) { index += 1 }
        return index > start ? String(decoding: bytes[start ..< index], as: UTF8.self) : nil
    }

    /// Moves to the name of a parameter that follows; another challenge begins otherwise.
    private mutating func isAtParameter() -> Bool {
        let start = index
        skipSeparators()
        let name = index
        if token() != nil {
            skipBlanks()
            if index < bytes.count, bytes[index] == 0x3D {
                index = name
                return true
            }
        }
        index = start
        return false
    }

    private mutating func skipEquals() -> Bool {
        skipBlanks()
        guard index < bytes.count, bytes[index] == 0x3D else { return false }
        index += 1
        skipBlanks()
        return true
    }

    private mutating func value() -> String? {
        guard index < bytes.count else { return "" }
        if bytes[index] == ASCII.quote { return quoted() }
        let start = index
        while index < bytes.count, bytes[index] > 0x20, bytes[index] != 0x7F, bytes[index] != ASCII.comma,
            bytes[index] != ASCII.quote
        {
            index += 1
        }
        // A quote within the value, or after it.
        if index < bytes.count, bytes[index] == ASCII.quote { return nil }
        return String(validating: bytes[start ..< index], as: UTF8.self)
    }

    /// Reads a quoted string (RFC 9110, section 5.6.4).
    private mutating func quoted() -> String? {
        var text: [UInt8] = []
        index += 1
        while index < bytes.count {
            switch bytes[index] {
            case ASCII.quote:
                index += 1
                return String(validating: text, as: UTF8.self)
            case ASCII.backslash:
                guard index + 1 < bytes.count else { return nil }
                text.append(bytes[index + 1])
                index += 2
            default:
                text.append(bytes[index])
                index += 1
            }
        }
        return nil
    }

    /// Reads a token68 that is followed by a comma or the end (RFC 9110, section 11.2).
    private mutating func token68() -> String? {
        let start = index
        while index < bytes.count, Self.isToken68(bytes[index]) { index += 1 }
        let end = index
        while index < bytes.count, bytes[index] == 0x3D { index += 1 }
        let text = String(decoding: bytes[start ..< index], as: UTF8.self)
        skipBlanks()
        if end > start, index == bytes.count || bytes[index] == ASCII.comma { return text }
        index = start
        return nil
    }

    private static func isToken68(_ byte: UInt8) -> Bool {
        ASCII.isWord(byte) || byte == ASCII.minus || byte == ASCII.point || byte == 0x7E
            || byte == ASCII.plus || byte == 0x2F
    }
}

/// What a server that requires access tokens says about them, in all challenges of one response.
struct OAuthChallenge: Sendable, Hashable {
    /// The URL of the metadata of the resource (RFC 9728, section 5.1).
    var resourceMetadata: String?
    /// The scopes that are required, in order; nil if they are not named.
    var scopes: [String]?
    /// The code of the error (RFC 6750, section 3.1; RFC 9449, section 7.1).
    var error: String?
    /// What the server says about the error, in words.
    private(set) var errorDescription: String?
    /// Whether bearer tokens are accepted.
    var offersBearer = false
    /// Whether tokens that are bound to a key are accepted (RFC 9449).
    var offersDPoP = false
    /// The algorithms of the proofs, if they are named.
    var dpopAlgorithms: [String] = []

    /// Reads `WWW-Authenticate` fields; of each parameter the first one counts, with `Bearer` first.
    init(_ fields: [String]) {
        let challenges = AuthenticationChallenge.parse(fields)
        for scheme in ["bearer", "dpop"] {
            for challenge in challenges where challenge.scheme == scheme {
                let parameters = challenge.parameters
                resourceMetadata = resourceMetadata ?? parameters["resource_metadata"]
                error = error ?? parameters["error"]
                errorDescription = errorDescription ?? parameters["error_description"]
                if scopes == nil, let text = parameters["scope"] { scopes = ScopeList.read(text) }
                if scheme == "bearer" {
                    offersBearer = true
                } else {
                    offersDPoP = true
                    dpopAlgorithms += parameters["algs"]?.split(separator: " ").map { String($0) } ?? []
                }
            }
        }
    }
}

/// Lists of scopes (RFC 6749, section 3.3).
enum ScopeList {
    /// Returns the scopes of a text in order, each once, without those that no scope can be.
    static func read(_ text: String) -> [String] { union(text.split(separator: " ").map { String($0) }) }

    /// Returns the scopes of several lists in order, each once.
    static func union(_ lists: [String]...) -> [String] {
        var seen = Set<String>()
        return lists.joined().filter { ScopeSyntax.isScope($0) && seen.insert($0).inserted }
    }
}
