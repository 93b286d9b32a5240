import MCPCore

/// The parts of a URL that a server repeats without the rest, since it sees only the path and the query.
enum URLParts {
    /// The bytes of the shortest part of a path that is secret; shorter ones are `mcp`, `api` or `v1`.
    private static let minPathBytes = 8
    /// The bytes of the shortest other part that is secret.
    private static let minBytes = 4

    /// Returns what of these parts came from outside the file and may be secret.
    static func foreign(in url: ConfigText) -> [String] {
        let bytes = Array(url.value.utf8)
        guard !url.foreign.isEmpty, !url.value.hasPrefix("unix:") else { return [] }
        let parts = ranges(of: bytes)
        func found(_ ranges: [Range<Int>], _ minBytes: Int) -> [Range<Int>] {
            ranges.flatMap { range in url.foreign.map { $0.clamped(to: range) } }.filter {
                $0.count >= minBytes
            }
        }
        let path = found(parts.path, minPathBytes)
        let query = found(parts.query, minBytes)
        var all = path + query
        if !path.isEmpty { all += found([parts.target.prefix { $0 != UInt8(ascii: "?") }.indices], minBytes) }
        if !path.isEmpty || !query.isEmpty { all += found([parts.target.indices], minBytes) }
        var seen = Set(url.foreignTexts)
        return all.flatMap { range in
            [String(decoding: bytes[range], as: UTF8.self), PercentCoding.decode(bytes[range])]
        }.compactMap(\.self).filter { seen.insert($0).inserted }
    }

    /// A URL with a user or a password is refused elsewhere.
    private static func ranges(
        of bytes: [UInt8]
    ) -> (target: ArraySlice<UInt8>, path: [Range<Int>], query: [Range<Int>]) {
        let mark = "://".utf8
        let start = bytes.indices.first { bytes[$0...].starts(with: mark) }.map { $0 + mark.count } ?? 0
        let authority = bytes[start...].prefix { !"/?#".utf8.contains($0) }
        let target = bytes[authority.endIndex...].prefix { $0 != UInt8(ascii: "#") }
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        let query = target[path.endIndex...].dropFirst().split(separator: UInt8(ascii: "&")).map { member in
            let value = member.drop { $0 != UInt8(ascii: "=") }.dropFirst()
            return member.contains(UInt8(ascii: "=")) ? value.indices : member.indices
        }
        return (target, path.split(separator: UInt8(ascii: "/")).map(\.indices), query)
    }
}
