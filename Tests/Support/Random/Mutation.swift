/// SplitMix64: the same numbers on every run.
package struct SeededNumbers {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// Random damage to valid bytes.
package enum Mutation {
    /// Returns the bytes with one to four changes; `tokens` are pieces that mean something to a parser.
    package static func mutated(
        _ bytes: [UInt8], with tokens: [[UInt8]], _ random: inout SeededNumbers
    ) -> [UInt8] {
        var bytes = bytes
        for _ in 0 ... random.below(4) where !bytes.isEmpty {
            let place = random.below(bytes.count)
            let end = min(bytes.count, place + 1 + random.below(8))
            switch random.below(7) {
            case 0: bytes[place] = UInt8(random.below(256))
            case 1: bytes[place] ^= 1 << UInt8(random.below(8))
            case 2: bytes.insert(contentsOf: tokens[random.below(tokens.count)], at: place)
            case 3: bytes.replaceSubrange(place ..< end, with: tokens[random.below(tokens.count)])
            case 4: bytes.removeSubrange(place ..< end)
            case 5: bytes.insert(contentsOf: bytes[place ..< end], at: random.below(bytes.count))
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }
}
