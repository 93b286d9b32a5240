/// HMAC with SHA-256 (RFC 2104).
package struct HMACSHA256: Sendable {
    private var inner = SHA256()
    private var outer = SHA256()

    /// Begins an authentication code with `key`, which may have any length.
    package init(key: some Collection<UInt8>) {
        var block = key.count > 64 ? SHA256.hash(key).bytes : Array(key)
        block.append(contentsOf: repeatElement(0, count: 64 - block.count))
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5C })
    }

    /// Returns the authentication code of `bytes` with `key`.
    package static func authenticate(_ bytes: some Collection<UInt8>, key: some Collection<UInt8>)
        -> SHA256.Digest
    {
        var code = HMACSHA256(key: key)
        code.update(bytes)
        return code.finalize()
    }

    /// Adds more bytes.
    package mutating func update(_ bytes: some Collection<UInt8>) { inner.update(bytes) }

    /// Returns the code of all bytes added.
    package consuming func finalize() -> SHA256.Digest {
        outer.update(inner.finalize().bytes)
        return outer.finalize()
    }
}

/// Whether two byte sequences are equal, determined in a time that depends only on their lengths.
///
/// If the length of a secret is secret too, compare SHA-256 digests instead.
package func constantTimeEquals(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for (x, y) in zip(a, b) { difference |= x ^ y }
    return difference == 0
}
