#if !canImport(Darwin)
import Synchronization
import TestSupport
import Testing

import MCPCore

/// What a program fetches keys from: a JWK set that changes, or a failure.
final class KeyServer: Sendable {
    struct Down: Error {}

    private struct State {
        var answer: Result<String, any Error>
        var fetches = 0
        var gate: Gate?
        var started: Gate?
        var failures: [String] = []
    }

    private let state: Mutex<State>

    init(_ keys: String) { state = Mutex(State(answer: .success(keys))) }

    var fetches: Int { state.withLock { $0.fetches } }
    /// What `onKeyFailure` was called with.
    var failures: [String] { state.withLock { $0.failures } }

    func publish(_ keys: String) { state.withLock { $0.answer = .success(keys) } }
    func fail() { state.withLock { $0.answer = .failure(Down()) } }

    /// Holds the next fetches: the first gate opens when one has begun, the second one lets it go on.
    func hold() -> (began: Gate, open: Gate) {
        let (began, open) = (Gate(), Gate())
        state.withLock { ($0.started, $0.gate) = (began, open) }
        return (began, open)
    }

    var fetch: @Sendable () async throws -> String {
        { [self] in
            let (started, gate) = state.withLock { state in
                state.fetches += 1
                return (state.started, state.gate)
            }
            started?.open()
            if let gate, await !gate.wait() { throw CancellationError() }
            return try state.withLock { try $0.answer.get() }
        }
    }

    func verifier(
        _ clock: ManualClock, lifetime: Duration = .seconds(3_600)
    ) throws -> JWTVerifier {
        let options = JWTVerifier.Options(
            keyLifetime: lifetime,
            onKeyFailure: { error in self.state.withLock { $0.failures.append("\(error)") } })
        return try JWTVerifier(
            issuer: JWTMaker.issuer, options: options, clock: clock, fetchKeys: fetch)
    }
}

/// A key that an authorization server uses for a while.
struct RotatingKey: Sendable {
    let id: String
    let key: any SigningKey

    init(_ id: String) throws {
        self.id = id
        key = try OpenSSLSignatures.system.makeP256Key()
    }

    /// A set of this key alone.
    var jwks: String { Self.jwks([self]) }

    static func jwks(_ keys: [RotatingKey]) -> String {
        #"{"keys":[\#(keys.map { JWTMaker.jwk($0.key.publicKey, #""kid":"\#($0.id)""#) }.joined(separator: ","))]}"#
    }

    /// A token that is good now.
    func token(_ clock: ManualClock, kid: String? = nil, isNamed: Bool = true) throws -> String {
        let now = clock.wallTime.secondsSinceEpoch
        let name = isNamed ? #","kid":"\#(kid ?? id)""# : ""
        return try JWTMaker.token(
            header: JWTMaker.header(#""alg":"ES256","typ":"at+jwt"\#(name)"#),
            claims: JWTMaker.claims(["exp": "\(now + 300)", "iat": "\(now)"]), by: .es256, with: key)
    }
}
#endif
