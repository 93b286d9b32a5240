/// A table that finds an index by the bytes of a name, without creating a string: open
/// addressing over FNV-1a.
///
/// Names come from the server's own registry, so a client cannot choose them to collide.
struct NameTable: Sendable {
    private let slots: [Int32]
    private let names: [ByteSlice]
    private let mask: Int

    init(_ names: [String]) {
        self.names = names.map { ByteSlice($0) }
        var size = 8
        while size < names.count * 2 { size *= 2 }
        mask = size - 1
        var slots = [Int32](repeating: -1, count: size)
        for (index, name) in self.names.enumerated() {
            var slot = unsafe name.withBytes { unsafe Self.hash($0) } & mask
            while slots[slot] >= 0 { slot = (slot + 1) & mask }
            slots[slot] = Int32(index)
        }
        self.slots = slots
    }

    /// Returns the index of the name, or nil.
    @inline(__always)
    func index(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        var slot = unsafe Self.hash(name) & mask
        while true {
            let index = Int(slots[slot])
            if index < 0 { return nil }
            let candidate = names[index]
            if candidate.count == name.count, let start = name.baseAddress,
                unsafe memoryEquals(candidate.base, start, name.count)
            {
                return index
            }
            slot = (slot + 1) & mask
        }
    }

    func index(of name: String) -> Int? {
        unsafe ByteSlice(name).withBytes { unsafe index(of: $0) }
    }

    @inline(__always)
    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var index = 0
        while index < bytes.count {
            hash = unsafe (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01B3
            index += 1
        }
        return Int(truncatingIfNeeded: hash >> 1)
    }
}
