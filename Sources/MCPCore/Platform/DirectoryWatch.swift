import Dispatch
import Synchronization

#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Tells what changes beneath a directory (inotify(7)).
///
/// Changes are collected for a moment, so that a program that writes a hundred files is told of once. A
/// directory that is removed, or replaced by another one, is watched again once it is back. Linux only;
/// elsewhere it cannot be made.
package final class DirectoryWatch: @unchecked Sendable {
    private let counted = Counted(.directoryWatch)

    // SAFETY: `state` is touched on `queue` only, after `init` has returned.

    /// What changed, with paths relative to the root.
    package struct Changes: Sendable {
        /// Files whose contents are new.
        package var written: Set<String> = []
        /// Files or directories came or went.
        package var isListChanged = false
        /// More happened than could be noticed: everything may have changed.
        package var areLost = false

        /// Why a directory is not watched, the first where there are several. What could not be looked at for
        /// the moment is looked at again.
        package var failure: RootError?

        package var isEmpty: Bool { !tellsOfFiles && failure == nil }

        /// Whether there is more than a failure to tell.
        package var tellsOfFiles: Bool { !written.isEmpty || isListChanged || areLost }
    }

    /// What is of interest, by its path relative to the root.
    package struct Interest: Sendable {
        package var files: @Sendable (String) -> Bool
        package var directories: @Sendable (String) -> Bool
        /// A file whose permissions or owner change counts as written.
        package var permissions: Bool

        package init(
            files: @escaping @Sendable (String) -> Bool = { _ in true },
            directories: @escaping @Sendable (String) -> Bool = { _ in true }, permissions: Bool = false
        ) {
            self.files = files
            self.directories = directories
            self.permissions = permissions
        }
    }

    /// Directories that are watched at most; those beyond are not.
    package static let maxDirectories = 8_192
    /// How long changes are collected.
    static let moment = DispatchTimeInterval.milliseconds(50)
    /// Between two looks for a root that is gone.
    static let searchInterval = DispatchTimeInterval.seconds(1)
    /// Different files that one moment can hold; beyond them everything may have changed.
    static let maxWritten = 1_024
    /// Names in one directory that are looked at.
    static let maxEntries = 100_000

    #if os(Linux)
    struct State {
        /// Nil while there is none at its path.
        var tree: RootDirectory?
        var directories: [Int32: String] = [:]
        /// The watch of the directory that the root stands in: what is removed tells of it only when nobody
        /// has it open any more, and we have.
        var parent: Int32 = -1
        var pending = Changes()
        var isScheduled = false
        var isSearching = false
        /// Directories that could not be listed, and are tried again.
        var unread: Set<String> = []
    }

    let queue = DispatchQueue(label: "mcp.watch")
    let root: String
    let interest: Interest
    let handler: @Sendable (Changes) -> Void
    let fd: Int32
    /// Once it is, the descriptor may be somebody else's.
    let isCancelled = Atomic<Bool>(false)
    var state = State()
    private var source: WatchSource?
    #endif

    /// Watches `root` and the directories beneath it.
    ///
    /// - Parameters:
    ///   - interest: what is told of.
    ///   - handler: called on a queue of its own, one call at a time.
    /// - Throws: `IOError` when the system has no watches left, or none at all.
    package init(
        _ root: String, _ interest: Interest = Interest(), handler: @escaping @Sendable (Changes) -> Void
    ) throws(IOError) {
        #if os(Linux)
        let fd = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard fd >= 0 else { throw IOError("inotify_init1") }
        self.fd = fd
        self.root = root
        self.interest = interest
        self.handler = handler
        do throws(IOError) {
            try openRoot()
        } catch {
            Syscalls.close(fd)
            throw error
        }
        source = WatchSource.readable(FileDescriptor(owning: fd), on: queue) { [weak self] in self?.read() }
        queue.async { self.addDirectories(beneath: "") }
        #else
        throw IOError(errno: ENOTSUP, function: "watching directories")
        #endif
    }

    /// Stops watching.
    package func cancel() {
        #if os(Linux)
        isCancelled.store(true, ordering: .relaxed)
        source?.cancel()
        #endif
    }

    deinit { cancel() }
}
