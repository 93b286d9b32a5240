import MCPCore

/// The programs that do not survive a probe, remembered in a file of the user between runs.
///
/// The file is a cache: it is used if only its owner can write it, and its absence is never an error. It has
/// digests of command lines, and what the programs said about their revision.
struct HandshakeMemory: Sendable {
    /// The largest size of the file.
    static let maxBytes = 256 << 10
    static let name = "handshakes.json"

    let cache: ServerProfileCache
    private let place: PrivateDirectory
    private let before: JSONValue?

    /// Reads the memory; nil if the environment names no place for it.
    init?(_ variable: (String) -> String?) {
        guard let directory = Self.directory(variable) else { return nil }
        place = PrivateDirectory(path: directory)
        let bytes = (try? place.read(Self.name, maxBytes: Self.maxBytes)) ?? nil
        cache = ServerProfileCache.handshakes(bytes.flatMap { try? JSONValue(parsing: $0) } ?? [:])
        before = cache.handshakes
    }

    /// Returns `$XDG_CACHE_HOME/mcpcore`, else `~/.cache/mcpcore`.
    static func directory(_ variable: (String) -> String?) -> String? {
        if let cache = variable("XDG_CACHE_HOME"), cache.hasPrefix("/") { return cache + "/mcpcore" }
        if let home = variable("HOME"), home.hasPrefix("/") { return home + "/.cache/mcpcore" }
        return nil
    }

    /// Writes the memory if it has changed. Of two programs that write at the same time, one wins.
    func save() {
        guard let now = cache.handshakes, now != before else { return }
        let bytes = Array(now.serialized().utf8)
        guard bytes.count <= Self.maxBytes, (try? place.create()) != nil else { return }
        // Without the file, the next run finds out the same again.
        try? place.replace(Self.name, bytes)
    }
}
