import MCPCore

/// What is known about servers, in files of the user between runs: their description of themselves, their
/// lists, and whether they survive a probe.
///
/// A file is used only if nobody else can write it, and written through another one that is renamed, so that
/// several processes can use it at the same time. Nothing here is ever an error: what cannot be read is
/// asked for again, and what cannot be written is not kept.
struct DiskCache: ServerRecordStore {
    /// The maximum number of files.
    static let maxFiles = 256
    /// The maximum size of one file, and of all files together.
    static let maxFileBytes = 8 << 20
    static let maxBytes = 64 << 20

    private let place: PrivateDirectory
    private let path: String

    /// Creates the cache; nil if the environment names no place for it.
    init?(_ variable: (String) -> String?) {
        guard let path = Self.directory(variable) else { return nil }
        self.path = path
        place = PrivateDirectory(path: path)
    }

    /// Returns `$XDG_CACHE_HOME/mcp-client`, else `~/.cache/mcp-client`.
    static func directory(_ variable: (String) -> String?) -> String? {
        if let cache = variable("XDG_CACHE_HOME"), cache.hasPrefix("/") { return cache + "/mcp-client" }
        if let home = variable("HOME"), home.hasPrefix("/") { return home + "/.cache/mcp-client" }
        return nil
    }

    func read(_ name: String) -> [UInt8]? {
        // A miss, whatever the reason.
        (try? place.read(Self.file(name), maxBytes: Self.maxFileBytes)) ?? nil
    }

    func write(_ name: String, _ bytes: [UInt8]) {
        // The file of another user is not replaced, nor is a link.
        guard bytes.count <= Self.maxFileBytes, (try? place.create()) != nil,
            (try? place.read(Self.file(name), maxBytes: Self.maxBytes)) != nil || !exists(name)
        else { return }
        makeRoom(for: bytes.count, besides: Self.file(name))
        // Without the file, the next run asks the server again.
        try? Files.replace(path + "/" + Self.file(name), with: bytes, isExact: true, isDurable: false)
    }

    func remove(_ name: String) {
        // A file that stays is stale until its time is up.
        try? place.remove(Self.file(name))
    }

    private static func file(_ name: String) -> String { name + ".json" }

    private func exists(_ name: String) -> Bool { (try? Files.info(path + "/" + Self.file(name))) != nil }

    /// Removes the files that were written first until there is room for another one.
    private func makeRoom(for bytes: Int, besides name: String) {
        // Unreadable, it is empty for this purpose: a file more is written.
        let names = (try? place.names()) ?? []
        guard names.count >= Self.maxFiles / 2 || bytes > Self.maxFileBytes / 8 else { return }
        var files = names.filter { $0 != name }.compactMap { name in
            (try? Files.info(path + "/" + name)).map { (name: name, info: $0) }
        }
        files.sort { $0.info.modified > $1.info.modified }
        var total = bytes + files.reduce(0) { $0 + $1.info.size }
        while files.count >= Self.maxFiles || total > Self.maxBytes, let oldest = files.popLast() {
            // One that another process has just removed.
            try? place.remove(oldest.name)
            total -= oldest.info.size
        }
    }
}
