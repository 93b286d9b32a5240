import Dispatch
import Synchronization

/// A watch that lists a directory again and again: for systems without inotify(7).
///
/// A dispatch source on a directory reports what comes and goes in it, but not what is written to a file, and
/// each would hold one of the 256 descriptors that a process has on macOS. Scans see both. They take at most
/// a fiftieth of the time: the longer one lasts, the longer the pause until the next.
package final class DirectoryScan: @unchecked Sendable {
    // SAFETY: after `init` has returned, `known` and `lastFailure` are accessed only on `queue`.

    /// The shortest pause between two scans.
    package static let interval = Duration.seconds(1)
    /// The longest pause between two scans.
    private static let maxPause = Duration.seconds(60)
    /// The pause is at least this many times the duration of the scan before it.
    private static let rest = 50

    /// What two scans are compared by.
    private struct Stamp: Equatable {
        let size: Int
        let modified: WallTime
        let identity: FileIdentity
        /// Permissions and owner, or zeros where they are of no interest.
        let permissions: UInt32
        let owner: UInt32
    }

    private struct Tree {
        /// The root itself, or nil if there is none at its path.
        var root: FileIdentity?
        var directories: Set<String> = []
        var files: [String: Stamp] = [:]
        /// The directories that could not be listed; what was known of them remains.
        var unread: Set<String> = []
    }

    private let counted = Counted(.directoryWatch)
    private let queue = DispatchQueue(label: "mcp.scan")
    private let path: String
    private let interest: DirectoryWatch.Interest
    private let interval: Duration
    private let handler: @Sendable (DirectoryWatch.Changes) -> Void
    private let isCancelled = Atomic<Bool>(false)
    private var known = Tree()
    private var lastFailure: RootError?

    /// Scans `root` and the directories beneath it.
    ///
    /// - Parameters:
    ///   - interval: the shortest pause between two scans.
    ///   - handler: the closure that receives the changes; called on a queue of its own, one call at a time.
    /// - Throws: `IOError` if the directory does not exist.
    package init(
        _ root: String, _ interest: DirectoryWatch.Interest = .init(), interval: Duration = interval,
        handler: @escaping @Sendable (DirectoryWatch.Changes) -> Void
    ) throws(IOError) {
        path = root
        self.interest = interest
        self.interval = interval
        self.handler = handler
        let tree = try RootDirectory(root)
        var failure: RootError?
        known = list(tree, &failure)
        if let failure {
            lastFailure = failure
            queue.async { [handler] in handler(DirectoryWatch.Changes(failure: failure)) }
        }
        schedule(after: interval)
    }

    /// Stops scanning.
    package func cancel() { isCancelled.store(true, ordering: .relaxed) }

    deinit { cancel() }

    private func schedule(after pause: Duration) {
        queue.asyncAfter(deadline: .now() + pause.dispatchInterval) { [weak self] in self?.scan() }
    }

    private func scan() {
        guard !isCancelled.load(ordering: .relaxed) else { return }
        let clock = SystemClock()
        let start = clock.now
        let changes = compare()
        if !changes.isEmpty { handler(changes) }
        schedule(after: min(max(interval, (clock.now - start) * Self.rest), Self.maxPause))
    }

    private func compare() -> DirectoryWatch.Changes {
        var changes = DirectoryWatch.Changes()
        var failure: RootError?
        // Without a root, the search for it goes on.
        let next = (try? RootDirectory(path)).map { list($0, &failure) } ?? Tree()
        if let failure, failure != lastFailure { changes.failure = failure }
        lastFailure = failure
        defer { known = next }
        guard next.root == known.root else {
            changes.isListChanged = true
            changes.areLost = next.root != nil
            return changes
        }
        if !known.unread.subtracting(next.unread).isEmpty { changes.areLost = true }
        changes.isListChanged = next.directories != known.directories
        for (path, stamp) in next.files where known.files[path] != stamp {
            if known.files[path] == nil { changes.isListChanged = true }
            if changes.written.count < DirectoryWatch.maxWritten {
                changes.written.insert(path)
            } else {
                changes.areLost = true
            }
        }
        if known.files.keys.contains(where: { next.files[$0] == nil }) { changes.isListChanged = true }
        return changes
    }

    private func list(_ root: RootDirectory, _ failure: inout RootError?) -> Tree {
        var tree = Tree(root: root.identity)
        var waiting = [""]
        while let directory = waiting.popLast(), !isCancelled.load(ordering: .relaxed) {
            var listing = RootListing()
            do throws(RootError) {
                do throws(RootError) {
                    listing = try root.list(directory, maxEntries: DirectoryWatch.maxEntries)
                } catch { try listing.leaveOut(error) }
                failure = failure ?? listing.denied
            } catch {
                failure = failure ?? error
                keep(directory, in: &tree)
            }
            for entry in listing.entries {
                switch entry.info.kind {
                case .directory: if add(directory: entry.path, to: &tree) { waiting.append(entry.path) }
                case .file: add(entry, to: &tree)
                default: break
                }
            }
        }
        return tree
    }

    private func add(directory: String, to tree: inout Tree) -> Bool {
        guard interest.directories(directory), tree.directories.count < DirectoryWatch.maxDirectories else {
            return false
        }
        return tree.directories.insert(directory).inserted
    }

    private func add(_ entry: RootEntry, to tree: inout Tree) {
        guard interest.files(entry.path), tree.files.count < DirectoryWatch.maxEntries else { return }
        let info = entry.info
        tree.files[entry.path] = Stamp(
            size: info.size, modified: info.modified, identity: info.identity,
            permissions: interest.permissions ? info.permissions : 0,
            owner: interest.permissions ? info.owner : 0)
    }

    /// Keeps what is known of a directory that cannot be listed for the moment.
    private func keep(_ directory: String, in tree: inout Tree) {
        tree.unread.insert(directory)
        let beneath = directory.isEmpty ? "" : directory + "/"
        for (path, stamp) in known.files where path.utf8.starts(with: beneath.utf8) {
            tree.files[path] = stamp
        }
        for path in known.directories where path.utf8.starts(with: beneath.utf8) {
            tree.directories.insert(path)
        }
    }
}
