import MCPCore
import Synchronization
import TestSupport

/// The check of proofs that a client holds the key of its tokens (RFC 9449, section 4.3).
final class ProofRules: Sendable {
    enum Verdict: Sendable, Hashable {
        case good
        /// The proof is good, but for the nonce.
        case lacksNonce
        case bad(String)
    }

    /// The nonce that each proof must have; nil for none.
    let nonce: String?
    private let state = Mutex<(ids: Set<String>, keys: Set<String>)>(([], []))

    init(nonce: String? = nil) { self.nonce = nonce }

    /// The keys that proofs were made with.
    var keys: Set<String> { state.withLock { $0.keys } }
    /// The number of proofs.
    var count: Int { state.withLock { $0.ids.count } }

    func check(_ heard: HTTPPeer.Heard, url: String, token: String?) -> Verdict {
        guard let proof = heard.header("dpop") else { return .bad("no proof") }
        let parts = proof.split(separator: ".").map(String.init)
        guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
            let signature = Self.bytes(parts[2])
        else { return .bad("not a JWS") }
        guard header["typ"] == "dpop+jwt", header["alg"] == "ES256", let key = header["jwk"],
            key["kty"] == "EC", key["crv"] == "P-256", key["d"] == nil,
            let x = key["x"]?.stringValue.flatMap(Self.bytes),
            let y = key["y"]?.stringValue.flatMap(Self.bytes)
        else { return .bad("header") }
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        let isValid = try? OpenSSLSignatures.system.verifyingKey(.p256(x: x, y: y)).isValid(
            signature, of: signed, by: .es256)
        guard isValid == true else { return .bad("signature") }
        guard claims["htm"]?.stringValue == heard.method, claims["htu"]?.stringValue == url else {
            return .bad("htm, htu")
        }
        guard let time = claims["iat"]?.intValue, abs(Int(WallTime.now.secondsSinceEpoch) - time) < 300 else {
            return .bad("iat")
        }
        let digest = token.map { Base64URL.encode(Array(SHA256.hash(Array($0.utf8)).bytes)) }
        guard claims["ath"]?.stringValue == digest else { return .bad("ath") }
        guard let id = claims["jti"]?.stringValue, id.utf8.count >= 16 else { return .bad("jti") }
        let isNew = state.withLock { state in
            state.keys.insert("\(x) \(y)")
            return state.ids.insert(id).inserted
        }
        guard isNew else { return .bad("a jti again") }
        return claims["nonce"]?.stringValue == nonce ? .good : .lacksNonce
    }

    private static func json(_ part: String) -> JSONValue? {
        bytes(part).flatMap { try? JSONValue(parsing: $0) }
    }

    private static func bytes(_ part: String) -> [UInt8]? {
        let text = String(part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        return Base64.decode(text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    }
}
