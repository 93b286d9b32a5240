import MCPCore

/// A walk over the files of a directory in the order of their paths, which begins after a path and ends with
/// a page.
///
/// Only the directories on the way are read, so that a page of a large tree costs as much as one of a small
/// tree. A file that exists all the time is found by exactly one of the pages, whatever comes and goes.
struct FileWalk {
    /// The names that one page looks at; with filters that leave almost everything out, a page may be short.
    static let maxLooks = 50_000
    static let maxDepth = 32

    let filter: FileFilter
    /// The most files of the page.
    let limit: Int
    /// Returns the names in a directory.
    let children: (String) throws(RootError) -> RootChildren
    /// Returns the properties of a file, nil if there is none.
    let info: (String) throws(RootError) -> FileInfo?

    private(set) var files: [RootEntry] = []
    /// The path that the next page begins after; nil if this is the last one.
    private(set) var next: String?
    /// Whether something was left out because of a limit or a missing permission, and the first such error.
    private(set) var isTruncated = false
    private(set) var denied: RootError?
    /// The number of names that are not UTF-8, in the directories that were read.
    private(set) var unreadableNames = 0
    private var looks = 0
    private var last = ""

    /// Thrown when the page is complete.
    private struct Full: Error {}

    init(
        _ filter: FileFilter, limit: Int, children: @escaping (String) throws(RootError) -> RootChildren,
        info: @escaping (String) throws(RootError) -> FileInfo?
    ) {
        self.filter = filter
        self.limit = limit
        self.children = children
        self.info = info
    }

    /// Returns a text about names that are not UTF-8.
    static func leftOut(_ count: Int) -> String {
        "\(Diagnostics.counted(count, "name")) not in UTF-8 \(count == 1 ? "is" : "are") left out: "
            + "no address can contain \(count == 1 ? "it" : "them")"
    }

    /// Fills the page.
    ///
    /// - Parameter start: the path that it begins after; nil for the first one.
    mutating func run(after start: String?) throws {
        last = start ?? ""
        do { try visit("", after: start.map { Array($0.utf8)[...] }, depth: 1) } catch is Full { next = last }
    }

    private mutating func visit(_ directory: String, after start: ArraySlice<UInt8>?, depth: Int) throws {
        guard depth <= Self.maxDepth else {
            isTruncated = true
            return
        }
        let listing: RootChildren
        do throws(RootError) {
            listing = try children(directory)
        } catch {
            try leaveOut(error, in: directory)
            return
        }
        isTruncated = isTruncated || listing.isTruncated
        unreadableNames += listing.unreadableNames
        let prefix = directory.isEmpty ? "" : directory + "/"
        for index in listing.entries.indices(after: start) {
            let child = listing.entries[index]
            let path = prefix + child.name
            guard looks < Self.maxLooks else { throw Full() }
            looks += 1
            if child.isDirectory {
                // The page may begin within this directory.
                let key = child.key.utf8
                let rest = start.flatMap { $0.starts(with: key) ? $0.dropFirst(key.count) : nil }
                if filter.mayDescend(into: path) { try visit(path, after: rest, depth: depth + 1) }
                last = path + Self.end
            } else {
                if filter.allows(path), let info = try properties(of: path), info.kind == .file {
                    guard files.count < limit else { throw Full() }
                    files.append(RootEntry(path: path, info: info))
                }
                last = path
            }
        }
    }

    /// What makes the path of a directory one that comes after everything beneath it: the last character.
    private static let end = "/\u{10FFFD}"

    private mutating func properties(of path: String) throws -> FileInfo? {
        do throws(RootError) { return try info(path) } catch {
            try leaveOut(error, in: path)
            return nil
        }
    }

    /// Beneath the root, what is missing or may not be read does not hide the rest.
    private mutating func leaveOut(_ error: RootError, in path: String) throws {
        if path.isEmpty { throw error }
        var listing = RootListing()
        try listing.leaveOut(error)
        isTruncated = isTruncated || listing.isTruncated
        denied = denied ?? listing.denied
    }
}

extension [RootChild] {
    /// Returns the indices of the names that come after the rest of a path, and of the directory that the
    /// path leads into.
    fileprivate func indices(after start: ArraySlice<UInt8>?) -> Range<Int> {
        guard let start else { return indices }
        var low = 0
        var high = count
        while low < high {
            let middle = low + (high - low) / 2
            if start.lexicographicallyPrecedes(self[middle].key.utf8) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        if low > 0, self[low - 1].isDirectory, start.starts(with: self[low - 1].key.utf8) { low -= 1 }
        return low ..< count
    }
}
