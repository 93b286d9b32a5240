/// A token that requests present as `Authorization: Bearer` (RFC 6750, section 2.1).
///
/// Only its digest is kept: comparing digests takes the same time whatever was sent and reveals nothing about
/// the token's length.
struct BearerToken: Sendable {
    private let digest: SHA256.Digest

    init(_ text: String) { digest = SHA256.hash(Array(text.utf8)) }

    /// Whether an Authorization field presents this token; `authorization` is nil if the request has no such
    /// field.
    func isShown(by authorization: String?) -> Bool {
        guard let words = authorization?.split(separator: " ", maxSplits: 1), words.count == 2,
            words[0].lowercased() == "bearer"
        else { return false }
        return constantTimeEquals(SHA256.hash(Array(words[1].utf8)).bytes, digest.bytes)
    }
}
