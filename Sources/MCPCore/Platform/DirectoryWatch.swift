import Dispatch
import Synchronization

#if os(Linux)
import CMCPSystem
import Glibc
#endif

/// Tells what changes beneath a directory (inotify(7)).
///
/// Changes are collected for a moment, so that a program that writes a hundred files is told of once. Linux
/// only; elsewhere it cannot be made.
package final class DirectoryWatch: @unchecked Sendable {
    // SAFETY: `state` is touched on `queue` only, after `init` has returned.

    /// What changed, with paths relative to the root.
    package struct Changes: Sendable {
        /// Files whose contents are new.
        package var written: Set<String> = []
        /// Files or directories came or went.
        package var isListChanged = false
        /// More happened than could be noticed: everything may have changed.
        package var areLost = false

        package var isEmpty: Bool { written.isEmpty && !isListChanged && !areLost }
    }

    /// Directories that are watched at most; those beyond are not.
    package static let maxDirectories = 8_192
    /// How long changes are collected.
    private static let moment = DispatchTimeInterval.milliseconds(50)
    private static let maxWritten = 1_024
    /// Names in one directory that are looked at.
    private static let maxEntries = 100_000

    #if os(Linux)
    private struct State {
        var directories: [Int32: String] = [:]
        var pending = Changes()
        var isScheduled = false
        var isPartial = false
    }

    private let queue: DispatchQueue
    private let root: String
    private let tree: RootDirectory
    private let mayDescend: @Sendable (String) -> Bool
    private let handler: @Sendable (Changes) -> Void
    private let fd: Int32
    private var state = State()
    private var source: WatchSource?

    private static let events =
        UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        | UInt32(IN_CLOSE_WRITE) | UInt32(IN_DELETE_SELF) | UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW)
        | UInt32(IN_EXCL_UNLINK)
    #endif

    /// Watches `root` and the directories beneath it.
    ///
    /// - Parameters:
    ///   - mayDescend: whether a directory is of interest, by its path.
    ///   - handler: called on a queue of its own, one call at a time.
    /// - Throws: `IOError` when the system has no watches left, or none at all.
    package init(
        _ root: String, mayDescend: @escaping @Sendable (String) -> Bool = { _ in true },
        handler: @escaping @Sendable (Changes) -> Void
    ) throws(IOError) {
        #if os(Linux)
        tree = try RootDirectory(root)
        let fd = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard fd >= 0 else { throw IOError("inotify_init1") }
        self.fd = fd
        self.root = root
        self.mayDescend = mayDescend
        self.handler = handler
        queue = DispatchQueue(label: "mcp.watch")
        var directories: [Int32: String] = [:]
        let first = unsafe inotify_add_watch(fd, root, Self.events)
        guard first >= 0 else {
            let error = IOError("inotify_add_watch").applied(to: root)
            Syscalls.close(fd)
            throw error
        }
        directories[first] = ""
        state.directories = directories
        source = WatchSource.readable(FileDescriptor(owning: fd), on: queue) { [weak self] in self?.read() }
        queue.async { self.addDirectories(beneath: "") }
        #else
        throw IOError(errno: ENOTSUP, function: "watching directories")
        #endif
    }

    /// Stops watching.
    package func cancel() {
        #if os(Linux)
        source?.cancel()
        #endif
    }

    deinit { cancel() }
}

#if os(Linux)
extension DirectoryWatch {
    private func path(_ directory: String, _ name: String) -> String {
        directory.isEmpty ? name : directory + "/" + name
    }

    /// Breadth first; symbolic links are not followed.
    private func addDirectories(beneath directory: String) {
        var waiting = [directory]
        while let next = waiting.popLast() {
            // A directory that is gone or not readable has nothing to watch.
            let entries = (try? tree.list(next, maxEntries: Self.maxEntries))?.entries ?? []
            for child in entries where child.info.kind == .directory && mayDescend(child.path) {
                guard state.directories.count < Self.maxDirectories else { return }
                let watch = unsafe inotify_add_watch(fd, root + "/" + child.path, Self.events)
                guard watch >= 0 else { continue }
                if state.directories.updateValue(child.path, forKey: watch) == nil {
                    waiting.append(child.path)
                }
            }
        }
    }

    private func read() {
        var buffer = [UInt64](repeating: 0, count: 2_048)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
                guard let start = bytes.baseAddress else { return 0 }
                return unsafe Glibc.read(fd, start, bytes.count)
            }
            guard count > 0 else { break }
            unsafe buffer.withUnsafeBytes { bytes in
                unsafe take(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        }
        schedule()
    }

    /// A sequence of `inotify_event`, each followed by its padded name.
    private func take(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        let size = MemoryLayout<inotify_event>.size
        while offset + size <= bytes.count {
            let watch = unsafe bytes.load(fromByteOffset: offset, as: Int32.self)
            let mask = unsafe bytes.load(fromByteOffset: offset + 4, as: UInt32.self)
            let length = Int(unsafe bytes.load(fromByteOffset: offset + 12, as: UInt32.self))
            guard offset + size + length <= bytes.count else { return }
            let name = unsafe UnsafeRawBufferPointer(
                rebasing: bytes[(offset + size) ..< (offset + size + length)])
            unsafe take(watch, mask, String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
            offset += size + length
        }
    }

    private func take(_ watch: Int32, _ mask: UInt32, _ name: String) {
        func has(_ flag: Int) -> Bool { mask & UInt32(flag) != 0 }
        if has(Int(IN_Q_OVERFLOW)) {
            state.pending.areLost = true
            return
        }
        if has(Int(IN_IGNORED)) {
            state.directories[watch] = nil
            return
        }
        guard let directory = state.directories[watch] else { return }
        let path = path(directory, name)
        if has(Int(IN_ISDIR)) {
            state.pending.isListChanged = true
            if has(Int(IN_CREATE)) || has(Int(IN_MOVED_TO)) { addDirectory(path) }
            return
        }
        if has(Int(IN_CREATE)) || has(Int(IN_DELETE)) || has(Int(IN_MOVED_FROM)) || has(Int(IN_MOVED_TO)) {
            state.pending.isListChanged = true
        }
        if has(Int(IN_CLOSE_WRITE)) || has(Int(IN_MOVED_TO)), !name.isEmpty {
            if state.pending.written.count < Self.maxWritten {
                state.pending.written.insert(path)
            } else {
                state.pending.areLost = true
            }
        }
    }

    private func addDirectory(_ path: String) {
        guard mayDescend(path), state.directories.count < Self.maxDirectories else { return }
        let watch = unsafe inotify_add_watch(fd, root + "/" + path, Self.events)
        guard watch >= 0 else { return }
        state.directories[watch] = path
        addDirectories(beneath: path)
    }

    private func schedule() {
        guard !state.pending.isEmpty, !state.isScheduled else { return }
        state.isScheduled = true
        queue.asyncAfter(deadline: .now() + Self.moment) { [weak self] in self?.deliver() }
    }

    private func deliver() {
        let changes = state.pending
        state.pending = Changes()
        state.isScheduled = false
        if !changes.isEmpty { handler(changes) }
    }
}
#endif
