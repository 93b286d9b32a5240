/// HMAC with SHA-256 (RFC 2104).
struct HMACSHA256: Sendable {
    private var inner = SHA256()
    private var outer = SHA256()

    /// Begins a code under `key`, of any length.
    init(key: some Collection<UInt8>) {
        var block = key.count > 64 ? SHA256.hash(key).bytes : Array(key)
        block.append(contentsOf: repeatElement(0, count: 64 - block.count))
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5C })
    }

    /// The code of `bytes` under `key`.
    static func authenticate(_ bytes: some Collection<UInt8>, key: some Collection<UInt8>) -> SHA256.Digest {
        var code = HMACSHA256(key: key)
        code.update(bytes)
        return code.finalize()
    }

    /// Takes in more bytes.
    mutating func update(_ bytes: some Collection<UInt8>) { inner.update(bytes) }

    /// The code of all bytes taken in.
    consuming func finalize() -> SHA256.Digest {
        outer.update(inner.finalize().bytes)
        return outer.finalize()
    }
}

/// Whether two runs of bytes are the same, in a time that depends on their lengths alone.
///
/// For secrets whose length is secret too, compare their SHA-256 digests.
package func constantTimeEquals(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for (x, y) in zip(a, b) { difference |= x ^ y }
    return difference == 0
}
