/// The names under which callers see the tools, or the prompts, of several servers.
///
/// A name is the server's own one, unless something else has the same, or it begins with the name of another
/// server and an underscore: then its own server's name is in front. So neither the order of the servers nor
/// the time at which they start changes what a name means, and no server takes a name of another one. Names
/// that callers have seen keep their form as long as this value exists.
struct UpstreamNames: Sendable {
    /// A name of one server.
    struct Source: Hashable, Sendable {
        var server: String
        var name: String
    }

    /// - Parameters:
    ///   - hasPrefix: whether the operator put a text of his own in front of it.
    ///   - isChosen: whether the operator chose it, so that it may begin as he likes.
    typealias Wanted = (source: Source, base: String, hasPrefix: Bool, isChosen: Bool)

    /// The names that are remembered beyond those that are offered.
    static let maxOldNames = 4_096

    /// The names that more than one server has had.
    private var shared: Set<String> = []
    private var holders: [String: String] = [:]

    var rememberedCount: Int { holders.count }

    /// Forgets the names of servers that are not among these, so that another server may have them.
    mutating func keep(_ servers: Set<String>) { holders = holders.filter { servers.contains($0.value) } }

    /// Returns the names to show.
    ///
    /// - Parameters:
    ///   - servers: the names of all servers.
    ///   - own: the names of this server's own entries, which always keep them.
    mutating func assign(
        _ wanted: [Wanted], of servers: Set<String>, own: Set<String>
    ) -> [Source: String] {
        remember(wanted)
        let fronts = servers.map { (server: $0, front: Self.fitting($0) + "_") }
        var candidates: [(source: Source, name: String)] = []
        var counts: [String: Int] = [:]
        for (source, base, hasPrefix, isChosen) in wanted {
            let short = Self.fitting(base)
            let isFree =
                hasPrefix
                || !shared.contains(short)
                    && (isChosen
                        || !fronts.contains { $0.server != source.server && short.hasPrefix($0.front) })
            let name = isFree && !own.contains(short) ? short : Self.fitting("\(source.server)_\(base)")
            candidates.append((source, name))
            counts[name, default: 0] += 1
        }
        var names: [Source: String] = [:]
        for (source, name) in candidates {
            // The names of servers can make two long names one.
            let isUnique = counts[name] == 1 && !own.contains(name)
            names[source] = isUnique ? name : Self.digested(name, "\(source.server)\u{0}\(source.name)")
        }
        return names
    }

    private mutating func remember(_ wanted: [Wanted]) {
        for (source, base, _, _) in wanted {
            let base = Self.fitting(base)
            if let holder = holders[base], holder != source.server { shared.insert(base) }
            holders[base] = source.server
        }
        // A server that offers other names each time.
        guard holders.count > wanted.count + Self.maxOldNames else { return }
        let offered = Set(wanted.map { Self.fitting($0.base) })
        holders = holders.filter { offered.contains($0.key) }
        shared = shared.intersection(offered)
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
        return bytes.count > UpstreamLimits.nameBytes ? digested(text, name) : text
    }

    /// Returns a name that ends in a digest of another text.
    private static func digested(_ name: String, _ text: String) -> String {
        let digest = Hex.encode(SHA256.hash(text.utf8).bytes.prefix(4))
        return name.prefix(UpstreamLimits.nameBytes - 9) + "_" + digest
    }
}
