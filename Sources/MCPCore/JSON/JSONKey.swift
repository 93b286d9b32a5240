/// A member's name as a table key, compared and hashed by its bytes.
///
/// Swift compares strings by canonical equivalence, but in JSON two spellings of one character are two names
/// (RFC 8259 section 8.3). Hashing is seeded, so that a peer cannot deliberately choose names with equal
/// hashes, and equivalent spellings do not share a hash.
struct JSONKey: Hashable, Sendable {
    let name: String

    @inline(__always)
    static func == (a: JSONKey, b: JSONKey) -> Bool { same(a.name, b.name) }

    func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Whether both strings consist of the same code points.
    @inline(__always)
    static func same(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count && a == b && sameBytes(a, b)
    }

    private static func sameBytes(_ a: String, _ b: String) -> Bool {
        var first = a
        var second = b
        return first.withUTF8 { x in
            second.withUTF8 { y in
                guard let p = x.baseAddress, let q = y.baseAddress else { return x.count == y.count }
                return unsafe x.count == y.count && memoryEquals(p, q, x.count)
            }
        }
    }
}
