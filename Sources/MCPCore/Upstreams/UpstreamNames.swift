/// The names under which callers see the tools, or the prompts, of several servers.
///
/// A name is the server's own one, unless something else has the same: then all of them have their server's
/// name in front, so that neither the order of the servers nor the time at which they start changes what a
/// name means. Names that callers have seen keep their form as long as this value exists.
struct UpstreamNames: Sendable {
    /// A name of one server.
    struct Source: Hashable, Sendable {
        var server: String
        var name: String
    }

    /// The names that more than one server has had.
    private var shared: Set<String> = []
    private var holders: [String: String] = [:]

    /// Forgets the names of servers that are not among these, so that another server may have them.
    mutating func keep(_ servers: Set<String>) { holders = holders.filter { servers.contains($0.value) } }

    /// Returns the names to show, and what has none because even the longer name is taken.
    ///
    /// - Parameter own: the names of this server's own entries, which always keep them.
    mutating func assign(
        _ wanted: [(source: Source, base: String, hasPrefix: Bool)], own: Set<String>
    ) -> (names: [Source: String], refused: [Source]) {
        for (source, base, _) in wanted {
            let base = Self.fitting(base)
            if let holder = holders[base], holder != source.server { shared.insert(base) }
            holders[base] = source.server
        }
        var taken = own
        var names: [Source: String] = [:]
        var refused: [Source] = []
        for (source, base, hasPrefix) in wanted {
            let short = Self.fitting(base)
            let long = Self.fitting("\(source.server)_\(base)")
            let isFree = !taken.contains(short) && (hasPrefix || !shared.contains(short))
            let name = isFree ? short : long
            if taken.insert(name).inserted {
                names[source] = name
            } else {
                refused.append(source)
            }
        }
        return (names, refused)
    }

    /// Returns a name that every host accepts: at most 64 characters of `A-Z a-z 0-9 _ -`, and `.`. A longer
    /// one ends in a digest of the whole name.
    static func fitting(_ name: String) -> String {
        let bytes = name.utf8.map { byte -> UInt8 in
            switch byte {
            case 0x30 ... 0x39, 0x41 ... 0x5A, 0x61 ... 0x7A, 0x5F, 0x2D, 0x2E: byte
            default: 0x5F
            }
        }
        let text = bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
        guard bytes.count > UpstreamLimits.nameBytes else { return text }
        let digest = Hex.encode(SHA256.hash(name.utf8).bytes.prefix(4))
        return text.prefix(UpstreamLimits.nameBytes - 9) + "_" + digest
    }
}
