import Synchronization

/// A verifier for tokens that the server's operator has made, without an authorization server.
///
/// ```swift
/// let new = StaticToken.make(name: "ci", scopes: ["files:read"])
/// let tokens = try StaticTokens([new.record])
/// ```
///
/// Only digests are kept. A presented token is compared with all of them in a time that does not depend on
/// where they differ.
public final class StaticTokens: TokenVerifier {
    /// The maximum number of tokens: 1,000.
    public static let maxTokens = 1_000

    private struct Entry: Sendable {
        let digest: [UInt8]
        let record: StaticToken
    }

    private let entries = Mutex<[Entry]>([])
    private let changes = Atomic<UInt64>(0)
    private struct WeakObserver { weak var observer: VerifierObserver? }
    private let observers = Mutex<[WeakObserver]>([])
    private let clock: any TimeSource

    /// Creates a verifier of these tokens.
    ///
    /// - Throws: `StaticTokenError` when a name or a digest cannot be used.
    public convenience init(_ records: [StaticToken] = []) throws(StaticTokenError) {
        try self.init(records, clock: SystemClock())
    }

    package init(_ records: [StaticToken], clock: any TimeSource) throws(StaticTokenError) {
        self.clock = clock
        let first = try Self.entries(of: records)
        entries.withLock { $0 = first }
    }

    // MARK: Tokens

    /// The records of all tokens, in the order in which they were added.
    public var records: [StaticToken] { entries.withLock { $0.map(\.record) } }

    /// Adds a token.
    ///
    /// - Throws: `StaticTokenError` when its name is taken, its digest cannot be used, or there are
    ///   `maxTokens` tokens.
    public func add(_ record: StaticToken) throws(StaticTokenError) {
        let failure = entries.withLock { entries -> StaticTokenError? in
            do throws(StaticTokenError) {
                entries = try Self.entries(of: entries.map(\.record) + [record])
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Revokes the token with this name. Returns false if there is none. Open streams of its callers end; a
    /// request that has no stream is served to its end.
    @discardableResult
    public func revoke(_ name: String) -> Bool {
        let isFound = entries.withLock { entries in
            let before = entries.count
            entries.removeAll { $0.record.name == name }
            return entries.count < before
        }
        if isFound { change() }
        return isFound
    }

    /// Replaces all tokens, for example after their file was changed.
    ///
    /// - Throws: `StaticTokenError` when a name or a digest cannot be used; the tokens then stay as they are.
    public func replaceAll(with records: [StaticToken]) throws(StaticTokenError) {
        let new = try Self.entries(of: records)
        entries.withLock { $0 = new }
        change()
    }

    private func change() {
        changes.add(1, ordering: .acquiringAndReleasing)
        let present = observers.withLock { observers in
            observers.removeAll { $0.observer == nil }
            return observers.compactMap(\.observer)
        }
        for observer in present { observer.notify() }
    }

    private static func entries(of records: [StaticToken]) throws(StaticTokenError) -> [Entry] {
        guard records.count <= maxTokens else { throw .tooMany }
        var names: Set<String> = []
        var entries: [Entry] = []
        for record in records {
            guard isName(record.name) else { throw .badName(record.name) }
            guard names.insert(record.name).inserted else { throw .nameIsTaken(record.name) }
            guard let digest = Hex.decode(record.digest), digest.count == 32 else {
                throw .badDigest(record.name)
            }
            if let scope = record.scopes.first(where: { !ScopeSyntax.isScope($0) }) {
                throw .badScope(scope)
            }
            if let pattern = record.allow?.first(where: { !NamePatterns.isPattern($0) }) {
                throw .badPattern(pattern)
            }
            entries.append(Entry(digest: digest, record: record))
        }
        return entries
    }

    /// Names appear in lists and logs: 1 to 64 letters, digits, `.`, `_`, `-` and `@`.
    private static func isName(_ name: String) -> Bool {
        (1 ... 64).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                ASCII.isDigit($0) || ASCII.isLetter($0) || [0x2D, 0x2E, 0x40, 0x5F].contains($0)
            }
    }

    // MARK: Verifier

    /// Returns the principal of a token: its subject is the token's name.
    public func verify(_ token: PresentedToken) async throws(TokenRefusal) -> Principal {
        guard StaticToken.isWellFormed(token.value) else { throw .invalid(.malformed) }
        let digest = SHA256.hash(Array(token.value.utf8)).bytes
        let record = entries.withLock { entries in
            var found: StaticToken?
            // Without an early end: the time does not tell which token it is.
            for entry in entries where constantTimeEquals(entry.digest, digest) { found = entry.record }
            return found
        }
        guard let record else { throw .invalid(.unknown) }
        if let end = record.expiresAt, end <= clock.wallTime.secondsSinceEpoch { throw .invalid(.expired) }
        return Principal(
            kind: .token, subject: record.name, scopes: Set(record.scopes), expiresAt: record.expiresAt,
            allowedNames: record.allow, rate: record.rate)
    }

    /// Returns whether the token begins like a static token.
    public func decides(about token: PresentedToken) -> Bool { token.value.hasPrefix(StaticToken.prefix) }

    /// Changes when a token is revoked or all are replaced.
    public var generation: UInt64 { changes.load(ordering: .acquiring) }

    /// Notifies the observer when a token is revoked or all are replaced.
    public func observe(_ observer: VerifierObserver) {
        observers.withLock { $0.append(WeakObserver(observer: observer)) }
    }
}

/// The reason why a record of a static token cannot be used.
public enum StaticTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name is not 1 to 64 letters, digits, `.`, `_`, `-` and `@`.
    case badName(String)
    /// Another token has this name.
    case nameIsTaken(String)
    /// The digest of the token with this name is not 64 hexadecimal digits.
    case badDigest(String)
    /// Not a scope (RFC 6749, section 3.3).
    case badScope(String)
    /// Not a pattern for names: empty, or with a space or a control character.
    case badPattern(String)
    /// There are more than `StaticTokens.maxTokens` tokens.
    case tooMany

    /// What is wrong, in one line.
    public var description: String {
        switch self {
        case .badName(let name):
            "\"\(Self.shown(name))\" is not a name: "
                + "use 1 to 64 letters, digits, \".\", \"_\", \"-\" and \"@\""
        case .nameIsTaken(let name): "a token with the name \(name) exists"
        case .badDigest(let name): "the digest of the token \(name) is not 64 hexadecimal digits"
        case .badScope(let scope): "\"\(Self.shown(scope))\" is not a scope"
        case .badPattern(let pattern): "\"\(Self.shown(pattern))\" is not a pattern for names"
        case .tooMany: "at most \(StaticTokens.maxTokens) tokens"
        }
    }

    /// A text from outside, shortened, without what a terminal would obey.
    private static func shown(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(64).map {
                    $0.value < 0x20 || (0x7F ... 0x9F).contains($0.value) ? "?" : $0
                }))
    }
}
