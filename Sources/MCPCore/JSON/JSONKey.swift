/// A member's name as the key of a table: compared and hashed by its bytes.
///
/// Swift compares strings by canonical equivalence; to JSON, two spellings of one character are two names
/// (RFC 8259 section 8.3). Hashing is seeded, and equivalent spellings do not share a hash on purpose of a
/// peer.
struct JSONKey: Hashable, Sendable {
    let name: String

    @inline(__always)
    static func == (a: JSONKey, b: JSONKey) -> Bool { same(a.name, b.name) }

    func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Whether both strings are the same code points.
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
