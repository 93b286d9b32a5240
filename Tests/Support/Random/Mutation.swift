import MCPCore

/// Random damage to valid bytes.
package enum Mutation {
    /// The seeds of a test: `count` from 1, or those of `MCP_FUZZ_SEEDS` (a number) from `MCP_FUZZ_FROM`, which
    /// `make fuzz-logins` sets.
    package static func seeds(_ count: UInt64) -> Range<UInt64> {
        func number(_ name: String) -> UInt64? { Environment.value(name).flatMap { UInt64($0) } }
        let first = min(number("MCP_FUZZ_FROM") ?? 1, .max / 2)
        return first ..< first + min(number("MCP_FUZZ_SEEDS") ?? count, .max / 2)
    }

    /// Returns the bytes with one to four changes; `tokens` are pieces that mean something to a parser.
    package static func mutated(
        _ bytes: [UInt8], with tokens: [[UInt8]], _ random: inout SeededRandom
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
