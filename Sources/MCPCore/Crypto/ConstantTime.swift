/// Whether two runs of bytes are the same, in a time that depends on their lengths alone.
///
/// For secrets whose length is secret too, compare their SHA-256 digests.
package func constantTimeEquals(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for (x, y) in zip(a, b) { difference |= x ^ y }
    return difference == 0
}
