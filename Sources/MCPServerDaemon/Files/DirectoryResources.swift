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
    /// The names of one directory that are listed.
    static let maxNames = 1_000_000
    /// The names of a directory that are kept for the next page, so that not each of them reads it again.
    private static let keptNames = 1_000 ... 200_000
    private static let keptTime = Duration.seconds(10)
    /// The directories of which it is known how many names are left out.
    private static let maxUnreadable = 1_000

    private struct KeptNames: Sendable {
        var directory: String
        var children: RootChildren
        var until: ContinuousClock.Instant
    }

    private struct State {
        /// The directory with many names that was read last.
        var kept: KeptNames?
        /// The problem that was last logged for this directory; the same one is not logged twice.
        var problem: String?
        /// The names that are not UTF-8, by directory, and how many of them were last logged.
        var unreadable: [String: Int] = [:]
        var loggedUnreadable = 0
    }

    let definition: FilesDefinition
    private let log: Log
    private let opened: Mutex<RootDirectory>
    private let state = Mutex(State())

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

    func templates() -> [ResourceTemplate] {
        [ResourceTemplate(definition.template.text, name: definition.name)]
    }

    func resources(after cursor: String?, limit: Int) async throws -> (page: [Resource], next: String?) {
        try await Offload.walk { [self] in
            let page = try page(after: cursor, limit: limit)
            return (page.files.map(resource), page.next)
        }
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

    /// Returns the files after a path.
    ///
    /// - Throws: an error for the client if a directory could not be read: a list that is too short would
    ///   tell the client that files are gone.
    private func page(after start: String?, limit: Int) throws(MCPError) -> FileWalk {
        do {
            let root = try root()
            var walk = FileWalk(definition.filter, limit: limit) { directory throws(RootError) in
                try self.children(of: directory, in: root, isFirst: start == nil)
            } info: { path throws(RootError) in
                try root.info(path)
            }
            try walk.run(after: start)
            if let denied = walk.denied {
                note("not everything can be listed: \(denied)")
            } else if walk.isTruncated {
                note("not everything is listed: a directory is too deep or has too many names")
            } else if start == nil, walk.next == nil, root.isInPlace {
                state.withLock { $0.problem = nil }
            }
            if walk.next == nil { noteUnreadableNames() }
            return walk
        } catch {
            throw unlistable(error)
        }
    }

    private func unlistable(_ error: any Error) -> MCPError {
        note("the files cannot be listed: \(error)")
        let reason = (error as? RootError)?.reason ?? (error as? IOError)?.reason ?? "unknown"
        return .internalError(
            "The files of \(definition.name) cannot be listed (\(reason)). "
                + "Try again later; the server's log names the directory.")
    }

    /// Returns the names in a directory: what is kept of it, unless a list begins.
    private func children(
        of directory: String, in root: RootDirectory, isFirst: Bool
    ) throws(RootError) -> RootChildren {
        let now = ContinuousClock().now
        let kept = state.withLock { $0.kept }
        if !isFirst, let kept, kept.directory == directory, now < kept.until { return kept.children }
        let children = try root.children(of: directory, atMost: Self.maxNames)
        state.withLock { state in
            let isKnown = state.unreadable[directory] != nil || state.unreadable.count < Self.maxUnreadable
            if children.unreadableNames == 0 {
                state.unreadable[directory] = nil
            } else if isKnown {
                state.unreadable[directory] = children.unreadableNames
            }
        }
        if Self.keptNames.contains(children.entries.count) {
            let kept = KeptNames(directory: directory, children: children, until: now + Self.keptTime)
            state.withLock { $0.kept = kept }
        }
        return children
    }

    // MARK: Completion

    /// Returns the paths that begin with a text, up to the next slash.
    /// A caller with rules about names receives the files that it may read, and no directories.
    func completions(of text: String, for context: RequestContext) async throws -> CompletionResult {
        try await Offload.walk { [self] in
            let paths = try completions(of: text, atMost: CompletionResult.maxValues + 1) { uri in
                uri.map { context.mayUse($0) } ?? context.mayUseAll
            }
            return CompletionResult(
                Array(paths.prefix(CompletionResult.maxValues)),
                hasMore: paths.count > CompletionResult.maxValues)
        }
    }

    /// - Parameter isShown: whether a resource is shown to the caller, or every one for nil.
    private func completions(
        of text: String, atMost limit: Int, isShown: (String?) -> Bool
    ) throws -> [String] {
        let names = Paths.components(text, omittingEmpty: false).dropLast()
        let directory = names.joined(separator: "/")
        let parents = names.indices.map { names[...$0].joined(separator: "/") }
        guard !text.hasPrefix("/"), Self.plain(directory) == directory,
            parents.allSatisfy(definition.filter.mayDescend)
        else {
            return []
        }
        let root: RootDirectory
        do { root = try self.root() } catch { throw unlistable(error) }
        // What is not there, or outside, has no files; clients must not learn why.
        guard let found = try? children(of: directory, in: root, isFirst: false) else { return [] }
        let prefix = names.isEmpty ? "" : directory + "/"
        var paths: [String] = []
        for child in found.entries where paths.count < limit {
            let path = prefix + child.key
            guard path.utf8.starts(with: text.utf8) else { continue }
            if child.isDirectory {
                if isShown(nil), definition.filter.mayDescend(into: prefix + child.name) {
                    paths.append(path)
                }
            } else if definition.filter.allows(path), isShown(definition.template.uri(of: path)),
                (try? root.info(path))?.kind == .file
            {
                paths.append(path)
            }
        }
        return paths
    }

    /// Logs a problem, unless it is the same as the last one.
    private func note(_ problem: String) {
        let isNew = state.withLock { state in
            defer { state.problem = problem }
            return state.problem != problem
        }
        if isNew { log.warning("files warning", ["text": problem]) }
    }

    /// Logs how many files have names that no address can contain, when their number has changed.
    private func noteUnreadableNames() {
        let count = state.withLock { state -> Int in
            let count = state.unreadable.values.reduce(0, +)
            defer { state.loggedUnreadable = count }
            return count == state.loggedUnreadable ? 0 : count
        }
        if count > 0 { log.warning("files warning", ["text": FileWalk.leftOut(count)]) }
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
