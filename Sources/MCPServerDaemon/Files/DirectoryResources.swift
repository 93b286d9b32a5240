import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The files of a directory as resources.
///
/// Every open goes through `RootDirectory`: the kernel confines it to what is beneath the root (fault rows 96
/// to 98).
final class DirectoryResources: ResourceProvider {
    /// The largest number of files that are listed; a directory with more is listed in part.
    static let maxFiles = 10_000
    static let maxDepth = 32
    /// The number of names in one directory that are examined.
    private static let maxEntries = 100_000
    /// The time during which the pages of one list come from the same scan of the directory.
    private static let snapshotLifetime = Duration.seconds(60)

    private struct Snapshot: Sendable {
        var number: Int
        var files: [RootEntry]
        var isTruncated: Bool
        var taken: ContinuousClock.Instant
    }

    private struct State {
        var snapshots: [Snapshot] = []
        var nextNumber = 1
        /// The problem that was last logged for this directory; the same one is not logged twice.
        var problem: String?
    }

    /// The number of scans from which pages of different clients may come at the same time.
    private static let maxSnapshots = 8

    let definition: FilesDefinition
    private let log: Log
    private let opened: Mutex<RootDirectory>
    private let state = Mutex(State())
    private let walks = SharedWork<Snapshot>()

    init(_ definition: FilesDefinition, log: Log) throws(IOError) {
        self.definition = definition
        self.log = log.with(["files": definition.name])
        opened = Mutex(try RootDirectory(definition.root))
    }

    /// Returns the directory that is at the path now or, while there is none, the one that was there last.
    private func root() throws(IOError) -> RootDirectory {
        try opened.withLock { root throws(IOError) in
            if root.isInPlace { return root }
            do throws(IOError) { root = try RootDirectory(definition.root) } catch {
                guard error.errno == ENOENT || error.errno == ENOTDIR else { throw error }
                note("the directory is gone; the one still open is served until it is back")
            }
            return root
        }
    }

    /// Returns the number of files that are listed, and whether there are more.
    func count() throws -> (files: Int, areMore: Bool) {
        let snapshot = try takeSnapshot()
        return (snapshot.files.count, snapshot.isTruncated)
    }

    func templates() -> [ResourceTemplate] {
        [ResourceTemplate(definition.template.text, name: definition.name)]
    }

    func resources(after cursor: String?, limit: Int) async throws -> (page: [Resource], next: String?) {
        let (snapshot, offset) = try await place(of: cursor)
        let end = min(snapshot.files.count, offset + limit)
        let page = snapshot.files[offset ..< end].map(resource)
        guard end < snapshot.files.count else { return (page, nil) }
        return (page, "\(snapshot.number).\(snapshot.files[end - 1].path)")
    }

    func read(_ uri: String, _ context: RequestContext) async throws -> [ResourceContents]? {
        guard let path = definition.template.path(of: uri) else { return nil }
        guard isShown(path) else { throw MCPError.resourceNotFound(uri) }
        return try await Offload.run { [self] in [try contents(of: path, uri: uri)] }
    }

    /// Returns whether changes of a file are reported: only with `watch`, and then also if it does not exist
    /// yet.
    ///
    /// Changes are reported under the address in the list. Another spelling of that address can be read, but
    /// a subscriber to it would never be notified.
    func reportsChanges(of uri: String) -> Bool {
        guard definition.watch, let path = definition.template.path(of: uri), isShown(path) else {
            return false
        }
        return definition.template.uri(of: path) == uri
    }

    /// Returns whether a path has the one spelling that the list uses, and is one that the list could show.
    private func isShown(_ path: String) -> Bool {
        definition.template.uri(of: path) == definition.template.uri(of: Self.plain(path))
            && definition.filter.allows(path)
    }

    // MARK: Listing

    /// Returns the snapshot that a cursor refers to, and the offset of the first file after the cursor.
    ///
    /// If that snapshot no longer exists, the list continues in a new one after the same path.
    private func place(of cursor: String?) async throws -> (Snapshot, offset: Int) {
        guard let cursor else { return (try await newSnapshot(), 0) }
        let parts = cursor.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int(parts[0]) else {
            throw MCPError.invalidParams("Invalid cursor")
        }
        let held = state.withLock { $0.snapshots.first { $0.number == number } }
        let snapshot: Snapshot
        if let held { snapshot = held } else { snapshot = try await newSnapshot() }
        let last = parts[1].utf8
        let offset = snapshot.files.partitioningIndex { last.lexicographicallyPrecedes($0.path.utf8) }
        return (snapshot, offset)
    }

    /// Takes a new snapshot. Only one scan of the directory runs at a time, however many requests are
    /// waiting.
    private func newSnapshot() async throws -> Snapshot {
        try await walks.value { [self] in try takeSnapshot() }
    }

    /// - Throws: an error for the client if the directory could not be read as a whole: an incomplete list
    ///   would tell the client that files are gone.
    private func takeSnapshot() throws(MCPError) -> Snapshot {
        let files: [RootEntry]
        let isTruncated: Bool
        do {
            (files, isTruncated) = try walk()
        } catch {
            note("the files cannot be listed: \(error)")
            let reason = (error as? RootError)?.reason ?? (error as? IOError)?.reason ?? "unknown"
            throw .internalError(
                "The files of \(definition.name) cannot be listed (\(reason)). "
                    + "Try again later; the server's log names the directory.")
        }
        let now = ContinuousClock().now
        return state.withLock { state in
            let snapshot = Snapshot(
                number: state.nextNumber, files: files, isTruncated: isTruncated, taken: now)
            state.nextNumber += 1
            state.snapshots.removeAll { $0.taken.duration(to: now) > Self.snapshotLifetime }
            if state.snapshots.count >= Self.maxSnapshots { state.snapshots.removeFirst() }
            state.snapshots.append(snapshot)
            return snapshot
        }
    }

    /// Walks the directory. Directories that the filter leaves out are not entered, so that a `.git` costs
    /// nothing.
    private func walk() throws -> (files: [RootEntry], isTruncated: Bool) {
        var files: [RootEntry] = []
        var isTruncated = false
        var denied: RootError?
        var pending = [""]
        let root = try root()
        for depth in 1 ... Self.maxDepth where !pending.isEmpty {
            var next: [String] = []
            for directory in pending {
                let listing = try list(directory, in: root)
                isTruncated = isTruncated || listing.isTruncated
                denied = denied ?? listing.denied
                for entry in listing.entries {
                    if entry.info.kind == .directory, definition.filter.mayDescend(into: entry.path) {
                        next.append(entry.path)
                    }
                    if entry.info.kind == .file, definition.filter.allows(entry.path) { files.append(entry) }
                }
                if files.count > Self.maxFiles { break }
            }
            isTruncated =
                isTruncated || files.count > Self.maxFiles || (depth == Self.maxDepth && !next.isEmpty)
            if files.count > Self.maxFiles { break }
            pending = next
        }
        if let denied {
            note("not everything can be listed: \(denied)")
        } else if root.isInPlace {
            state.withLock { $0.problem = nil }
        }
        files.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        return (Array(files.prefix(Self.maxFiles)), isTruncated)
    }

    /// Lists a directory. Beneath the root, one that is missing or may not be read does not hide the others.
    private func list(_ directory: String, in root: RootDirectory) throws(RootError) -> RootListing {
        do throws(RootError) {
            return try root.list(directory, maxEntries: Self.maxEntries)
        } catch {
            if directory.isEmpty { throw error }
            var listing = RootListing()
            try listing.leaveOut(error)
            return listing
        }
    }

    /// Logs a problem, unless it is the same as the last one.
    private func note(_ problem: String) {
        let isNew = state.withLock { state in
            defer { state.problem = problem }
            return state.problem != problem
        }
        if isNew { log.warning(problem) }
    }

    private func resource(_ entry: RootEntry) -> Resource {
        Resource(
            definition.template.uri(of: entry.path), name: entry.path,
            mimeType: MediaTypes.type(of: entry.path),
            size: entry.info.size, annotations: Annotations(lastModified: entry.info.modified.description))
    }

    // MARK: Reading

    private func contents(of path: String, uri: String) throws -> ResourceContents {
        let bytes: [UInt8]
        do throws(RootError) {
            let root: RootDirectory
            do throws(IOError) { root = try self.root() } catch { throw .failed(error) }
            bytes = try root.read(path, maxBytes: definition.maxBytes).bytes
        } catch {
            switch error {
            // Files outside do not exist for the client, so that it cannot probe the host's files.
            case .outside, .invalid, .notFound, .notRegular: throw MCPError.resourceNotFound(uri)
            case .tooLarge:
                let limit = Units.describe(bytes: definition.maxBytes)
                throw MCPError.invalidParams("\(uri) is larger than the limit of \(limit)")
            case .failed(let error):
                note("a file cannot be read: \(error)")
                throw MCPError.internalError("\(uri) cannot be read (\(error.reason))")
            }
        }
        let type = MediaTypes.type(of: path)
        if let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) {
            return .text(text, uri: uri, mimeType: type ?? "text/plain")
        }
        return .blob(bytes, uri: uri, mimeType: type ?? "application/octet-stream")
    }

    /// Returns the path without empty, `.` and `..` components.
    private static func plain(_ path: String) -> String {
        Paths.components(path).filter { $0 != "." && $0 != ".." }.joined(separator: "/")
    }
}

extension Array {
    /// Returns the first index from which on every element satisfies the predicate.
    ///
    /// The array must be sorted by the predicate: the elements that satisfy it come last.
    fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
