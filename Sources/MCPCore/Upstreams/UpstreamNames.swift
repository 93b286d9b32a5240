/// The names under which callers see the tools, or the prompts, of several servers.
///
/// A name is the server's own one, unless something else has the same, or it begins with the name of another
/// server and an underscore: then its own server's name is in front. What is still the same as another name
/// ends in a digest of its server and its own name. So neither the order of the servers nor the time at which
/// they start changes what a name means, and no server takes a name of another one, also not one with a
/// digest. Names that callers have seen keep their form as long as this value exists.
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

    /// The names that ended in a digest, and why, in words for operators; by the server's name.
    private(set) var notes: [String: [String]] = [:]
    /// The most notes about one server.
    static let maxNotes = 20

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
    ///   - prefixes: the texts in front of names, by the server's name: what begins with one is that
    ///     server's.
    ///   - own: the names of this server's own entries, which always keep them.
    mutating func assign(
        _ wanted: [Wanted], of servers: Set<String>, prefixes: [String: String] = [:], own: Set<String>
    ) -> [Source: String] {
        for (source, base, _, _) in wanted { remember(Self.fitting(base), of: source.server) }
        let fronts = Fronts(servers, prefixes)
        var assigned = distinct(wanted, fronts, own)
        while !share(assigned) { assigned = distinct(wanted, fronts, own) }
        var names: [Source: String] = [:]
        var taken = own
        notes = [:]
        for entry in assigned {
            if entry.digest != .none {
                remember(entry.short, of: entry.source.server)
                note(entry)
            }
            // Long digests do not collide, but no name is twice in a list, ever.
            if taken.insert(entry.name).inserted { names[entry.source] = entry.name }
        }
        forget(wanted, assigned)
        return names
    }

    /// What names of servers begin with, whether they are connected or not.
    private struct Fronts {
        private let names: [(server: String, front: String)]
        private let prefixes: [(server: String, front: String)]

        init(_ servers: Set<String>, _ prefixes: [String: String]) {
            names = servers.map { ($0, UpstreamNames.fitting($0) + "_") }
            // Of a longer one, names with a digest have only this.
            self.prefixes = prefixes.filter { !$0.value.isEmpty }.map {
                ($0.key, String(UpstreamNames.usable($0.value).prefix(UpstreamLimits.nameBytes - 9)))
            }
        }

        /// Returns whether a name begins with the name of another server.
        func nameAnother(_ name: String, than server: String) -> Bool {
            names.contains { $0.server != server && name.hasPrefix($0.front) }
        }

        /// Returns whether a name begins with the prefix of another server, and not with a longer one of
        /// its own.
        func areOfAnother(_ name: String, than server: String) -> Bool {
            let own =
                prefixes.first { $0.server == server && name.hasPrefix($0.front) }?.front.utf8.count ?? 0
            return prefixes.contains {
                $0.server != server && $0.front.utf8.count > own && name.hasPrefix($0.front)
            }
        }
    }

    /// How much of a digest a name ends in.
    private enum Digest: Int, Comparable {
        case none = 0
        /// 8 characters. Somebody can find another name with the same ones.
        case short = 4
        /// 32 characters. Nobody can, and no name of a server is shown with such an end.
        case long = 16

        static func < (a: Digest, b: Digest) -> Bool { a.rawValue < b.rawValue }
    }

    private struct Assigned {
        let source: Source
        /// The name without a digest.
        let base: String
        var digest: Digest
        var name: String

        init(_ source: Source, _ base: String, _ digest: Digest) {
            self.source = source
            self.base = base
            self.digest = digest
            name = UpstreamNames.digested(base, Self.text(source), digest)
        }

        /// The name that it would have with a short digest.
        var short: String { UpstreamNames.digested(base, Self.text(source), .short) }

        private static func text(_ source: Source) -> String { "\(source.server)\u{0}\(source.name)" }
    }

    /// Returns names of which no two are the same, nor one of `own`, whatever their order.
    private func distinct(_ wanted: [Wanted], _ fronts: Fronts, _ own: Set<String>) -> [Assigned] {
        var entries = wanted.map { (source, base, hasPrefix, isChosen) -> Assigned in
            let short = Self.fitting(base)
            let isFree =
                (isChosen || !fronts.areOfAnother(short, than: source.server))
                && (hasPrefix
                    || !shared.contains(short)
                        && (isChosen || !fronts.nameAnother(short, than: source.server)))
            if isFree, !own.contains(short) {
                return Assigned(source, short, Self.endsInLongDigest(short) ? .long : .none)
            }
            let name = Self.fitting("\(source.server)_\(base)")
            let isForeign = Self.endsInLongDigest(name) || fronts.areOfAnother(name, than: source.server)
            return Assigned(source, name, isForeign ? .long : .none)
        }
        // A short digest is the first attempt: what has the same name afterwards has a long one.
        for digest in [Digest.short, .long] {
            var counts: [String: Int] = [:]
            for entry in entries { counts[entry.name, default: 0] += 1 }
            for (index, entry) in entries.enumerated() where entry.digest < digest {
                let isTaken = own.contains(entry.name) || counts[entry.name] != 1
                guard isTaken || entry.digest == .short && shared.contains(entry.name) else { continue }
                entries[index] = Assigned(entry.source, entry.base, digest)
            }
        }
        return entries
    }

    /// Gives a name with a short digest that another server has, or had, to nobody from now on; returns
    /// whether there was none.
    private mutating func share(_ assigned: [Assigned]) -> Bool {
        let count = shared.count
        for entry in assigned where entry.digest != .none {
            if let holder = holders[entry.short], holder != entry.source.server { shared.insert(entry.short) }
        }
        return shared.count == count
    }

    private mutating func note(_ entry: Assigned) {
        let server = entry.source.server
        guard notes[server, default: []].count < Self.maxNotes else { return }
        let reason =
            Self.endsInLongDigest(entry.base)
            ? "its name ends like those that this server makes" : "something else would have the same name"
        let text = "\"\(entry.source.name)\" is offered as \"\(entry.name)\": \(reason)"
        notes[server, default: []].append(text.cleanedLine(maxBytes: 300))
    }

    private mutating func remember(_ name: String, of server: String) {
        if let holder = holders[name], holder != server { shared.insert(name) }
        holders[name] = server
    }

    /// Forgets names of a server that offers other ones each time.
    private mutating func forget(_ wanted: [Wanted], _ assigned: [Assigned]) {
        guard holders.count > wanted.count + Self.maxOldNames else { return }
        let digested = assigned.lazy.filter { $0.digest != .none }.map(\.short)
        let offered = Set(wanted.map { Self.fitting($0.base) }).union(digested)
        holders = holders.filter { offered.contains($0.key) }
        shared = shared.intersection(offered)
    }

    /// Returns a name that every host accepts: at most 64 characters of `A-Z a-z 0-9 _ -`, and `.`. A longer
    /// one ends in a digest of the whole name.
    static func fitting(_ name: String) -> String {
        let text = name.isEmpty ? "_" : usable(name)
        return text.utf8.count > UpstreamLimits.nameBytes ? digested(text, name, .short) : text
    }

    /// Returns a text with the characters that names may have.
    private static func usable(_ text: String) -> String {
        let bytes = text.utf8.map { byte -> UInt8 in
            switch byte {
            case 0x30 ... 0x39, 0x41 ... 0x5A, 0x61 ... 0x7A, 0x5F, 0x2D, 0x2E: byte
            default: 0x5F
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a name that ends in a digest of another text.
    private static func digested(_ name: String, _ text: String, _ digest: Digest) -> String {
        guard digest != .none else { return name }
        let end = Hex.encode(SHA256.hash(text.utf8).bytes.prefix(digest.rawValue))
        return name.prefix(UpstreamLimits.nameBytes - end.utf8.count - 1) + "_" + end
    }

    private static func endsInLongDigest(_ name: String) -> Bool {
        let end = name.utf8.suffix(2 * Digest.long.rawValue + 1)
        return end.count == 2 * Digest.long.rawValue + 1 && end.first == UInt8(ascii: "_")
            && end.dropFirst().allSatisfy { (0x30 ... 0x39).contains($0) || (0x61 ... 0x66).contains($0) }
    }
}
