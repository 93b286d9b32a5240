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

/// A watch that reports changes beneath a directory: inotify(7) on Linux, elsewhere `DirectoryScan`.
///
/// Changes are collected for a moment, so that a program that writes a hundred files causes one report. A
/// directory that is removed or replaced is watched again once it is back.
package final class DirectoryWatch: @unchecked Sendable {
    private let counted = Counted(.directoryWatch)

    // SAFETY: after `init` has returned, `state` is accessed only on `queue`.

    /// A set of changes, with paths relative to the root.
    package struct Changes: Sendable {
        /// The files whose contents have changed.
        package var written: Set<String> = []
        /// Whether files or directories were added or removed.
        package var isListChanged = false
        /// Whether changes were missed, so that everything may have changed.
        package var areLost = false

        /// The reason why a directory is not watched, or the first of several reasons. A directory that
        /// cannot be read for the moment is tried again later.
        package var failure: RootError?

        package var isEmpty: Bool { !tellsOfFiles && failure == nil }

        init(failure: RootError? = nil) { self.failure = failure }

        /// Whether there is anything to report besides a failure.
        package var tellsOfFiles: Bool { !written.isEmpty || isListChanged || areLost }
    }

    /// The files and directories of interest, selected by their paths relative to the root.
    package struct Interest: Sendable {
        package var files: @Sendable (String) -> Bool
        package var directories: @Sendable (String) -> Bool
        /// Whether a change to a file's permissions or owner counts as a write.
        package var permissions: Bool
        /// Whether writes to a file are reported while its writer keeps it open, at most once a second.
        /// Otherwise a file is complete when it is reported.
        package var openFiles: Bool

        package init(
            files: @escaping @Sendable (String) -> Bool = { _ in true },
            directories: @escaping @Sendable (String) -> Bool = { _ in true }, permissions: Bool = false,
            openFiles: Bool = false
        ) {
            self.files = files
            self.directories = directories
            self.permissions = permissions
            self.openFiles = openFiles
        }
    }

    /// The maximum number of directories that are watched; any further ones are not.
    package static let maxDirectories = 8_192
    /// The time for which changes are collected.
    static let moment = DispatchTimeInterval.milliseconds(50)
    /// The interval between two reports of a file that is written and stays open.
    static let growthInterval = DispatchTimeInterval.seconds(1)
    /// The interval between two searches for a root that is gone.
    static let searchInterval = DispatchTimeInterval.seconds(1)
    /// The maximum number of different files in one report; beyond that, everything may have changed.
    static let maxWritten = 1_024
    /// The maximum number of names that are read from one directory.
    static let maxEntries = 100_000

    #if os(Linux)
    struct State {
        /// The open root, or nil while there is none at its path.
        var tree: RootDirectory?
        var directories: [Int32: String] = [:]
        /// The watch of the root's parent directory. The removal of a directory is reported on the directory
        /// itself only once no process has it open, and this process does.
        var parent: Int32 = -1
        var pending = Changes()
        var isScheduled = false
        var isSearching = false
        /// The directories that could not be listed and are tried again.
        var unread: Set<String> = []
        var growing = GrowingFiles(capacity: DirectoryWatch.maxWritten)
        /// Whether the end of the second is awaited.
        var isTicking = false
        /// Whether a file was written that is still open, since the events were last read.
        var hasGrown = false
    }

    let queue = DispatchQueue(label: "mcp.watch")
    let root: String
    let interest: Interest
    let handler: @Sendable (Changes) -> Void
    let fd: Int32
    /// Whether the watch was cancelled; from then on, the descriptor's number may belong to another file.
    let isCancelled = Atomic<Bool>(false)
    var state = State()
    var source: WatchSource?
    #else
    private let scan: DirectoryScan
    #endif

    /// Watches `root` and the directories beneath it, all of which are watched when this returns.
    ///
    /// - Parameters:
    ///   - interest: the files and directories whose changes are reported.
    ///   - handler: the closure that receives the changes; called on a queue of its own, one call at a time.
    /// - Throws: `IOError` if the directory does not exist, or the system is out of watches.
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
        // Not in the background: a change after this would be missed.
        queue.sync {
            source = WatchSource.readable(FileDescriptor(owning: fd), on: queue) { [weak self] in
                self?.read()
            }
            addDirectories(beneath: "")
        }
        #else
        scan = try DirectoryScan(root, interest, handler: handler)
        #endif
    }

    /// Stops watching.
    package func cancel() {
        #if os(Linux)
        isCancelled.store(true, ordering: .relaxed)
        source?.cancel()
        #else
        scan.cancel()
        #endif
    }

    deinit { cancel() }
}
