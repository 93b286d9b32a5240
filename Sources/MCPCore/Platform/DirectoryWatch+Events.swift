#if os(Linux)
import CMCPSystem
import Dispatch
import Synchronization

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

// MARK: The tree

extension DirectoryWatch {
    private var events: UInt32 {
        Self.events | (interest.permissions ? UInt32(IN_ATTRIB) : 0)
            | (interest.openFiles ? UInt32(IN_MODIFY) : 0)
    }
    private static let events =
        UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK)
    private static let parentEvents =
        UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        | UInt32(IN_MOVE_SELF) | UInt32(IN_DELETE_SELF) | UInt32(IN_ONLYDIR)

    /// Watches the root itself and its parent directory. The root may be reached through symbolic links.
    func openRoot() throws(IOError) {
        let tree = try RootDirectory(root)
        let watch = unsafe inotify_add_watch(fd, root, events)
        guard watch >= 0 else { throw IOError("inotify_add_watch").applied(to: root) }
        state.tree = tree
        state.directories[watch] = ""
        // Without this watch, replacing the root goes unnoticed; the current root is watched all the same.
        if let parent { state.parent = unsafe inotify_add_watch(fd, parent, Self.parentEvents) }
    }

    /// The root's parent directory, and its name there.
    private var place: (parent: String, name: String)? {
        let components = Files.components(root)
        guard let name = components.last, !name.utf8.elementsEqual(".".utf8) else { return nil }
        let parent = components.dropLast().joined(separator: "/")
        if root.utf8.first == UInt8(ascii: "/") { return ("/" + parent, name) }
        return (parent.isEmpty ? "." : parent, name)
    }

    private var parent: String? { place?.parent }

    private func path(_ directory: String, _ name: String) -> String {
        directory.isEmpty ? name : directory + "/" + name
    }

    /// Watches the directories beneath a directory. Symbolic links are not followed.
    ///
    /// - Parameter areNew: whether files in them may have been written before the watch began.
    func addDirectories(beneath directory: String, areNew: Bool = false) {
        guard let tree = state.tree else { return }
        var waiting = [directory]
        while let next = waiting.popLast(), !isCancelled.load(ordering: .relaxed) {
            for child in entries(of: next, in: tree) {
                switch child.info.kind {
                case .directory: if add(child.path) { waiting.append(child.path) }
                case .file: if areNew, interest.files(child.path) { noteWritten(child.path) }
                default: break
                }
            }
        }
    }

    /// Lists a directory that is to be watched.
    ///
    /// A directory that is gone has nothing to watch, and one that may not be read is reported once. Any
    /// other error says nothing about the contents, so the directory is listed again later.
    private func entries(of directory: String, in tree: RootDirectory) -> [RootEntry] {
        var listing = RootListing()
        do throws(RootError) {
            do throws(RootError) {
                listing = try tree.list(directory, maxEntries: Self.maxEntries)
            } catch { try listing.leaveOut(error) }
            if let denied = listing.denied { note(denied) }
        } catch {
            note(error)
            state.unread.insert(directory)
            queue.asyncAfter(deadline: .now() + Self.searchInterval) { [weak self] in
                guard let self, !isCancelled.load(ordering: .relaxed),
                    state.unread.remove(directory) != nil
                else { return }
                // What happened in it in the meantime is unknown.
                state.pending.areLost = true
                addDirectories(beneath: directory)
                schedule()
            }
        }
        return listing.entries
    }

    private func note(_ failure: RootError) {
        if state.pending.failure == nil { state.pending.failure = failure }
        schedule()
    }

    /// Watches one directory. Returns false if it is already watched or cannot be.
    private func add(_ path: String) -> Bool {
        guard interest.directories(path), state.directories.count < Self.maxDirectories else { return false }
        let watch = unsafe inotify_add_watch(
            fd, root + "/" + path, events | UInt32(IN_DONT_FOLLOW))
        guard watch >= 0 else {
            let error = IOError("inotify_add_watch")
            // Gone, or no longer a directory.
            if error.errno != ENOENT, error.errno != ENOTDIR { note(.failed(error.applied(to: path))) }
            return false
        }
        return state.directories.updateValue(path, forKey: watch)?.utf8.elementsEqual(path.utf8) != true
    }

    /// Forgets a directory that has moved, and everything beneath it.
    private func forget(_ path: String) {
        let beneath = path + "/"
        for (watch, known) in state.directories
        where known.utf8.elementsEqual(path.utf8) || known.utf8.starts(with: beneath.utf8) {
            state.directories[watch] = nil
            // Fails for a directory that is gone, because its watch went with it.
            _ = inotify_rm_watch(fd, watch)
        }
    }

    // MARK: A root that disappears and returns

    /// Checks the root after a change in its parent directory.
    private func checkRoot() {
        if let tree = state.tree, tree.isInPlace { return }
        let wasThere = state.tree != nil
        // Fails for a directory that is gone, because its watch went with it.
        for watch in state.directories.keys { _ = inotify_rm_watch(fd, watch) }
        state.unread = []
        state.directories = [:]
        state.tree = nil
        if wasThere { state.pending.isListChanged = true }
        if !findRoot() { search() }
    }

    /// Returns whether the root is there again, and watches it if so.
    private func findRoot() -> Bool {
        // Whatever the reason, the search continues.
        guard (try? openRoot()) != nil else { return false }
        addDirectories(beneath: "")
        state.pending.isListChanged = true
        state.pending.areLost = true
        schedule()
        return true
    }

    private func search() {
        guard !state.isSearching else { return }
        state.isSearching = true
        queue.asyncAfter(deadline: .now() + Self.searchInterval) { [weak self] in
            guard let self, !isCancelled.load(ordering: .relaxed) else { return }
            state.isSearching = false
            if state.tree == nil, !findRoot() { search() }
        }
    }
}

// MARK: Events

extension DirectoryWatch {
    func read() {
        var buffer = [UInt64](repeating: 0, count: 2_048)
        do throws(IOError) {
            while true {
                let count = try unsafe buffer.withUnsafeMutableBufferPointer {
                    words throws(IOError) -> Int? in
                    unsafe try Syscalls.read(fd, into: UnsafeMutableRawBufferPointer(words))
                }
                guard let count, count > 0 else { break }
                unsafe buffer.withUnsafeBytes { bytes in
                    unsafe take(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                }
            }
        } catch {
            // The next event wakes us again; what this one was is unknown.
            state.pending.areLost = true
            note(.failed(error.applied(to: root)))
        }
        schedule()
        // A program may write ten thousand lines a second: the kernel makes one event of those in a row.
        if state.hasGrown {
            state.hasGrown = false
            source?.pause(Self.moment, on: queue) { [weak self] in
                guard let self, !isCancelled.load(ordering: .relaxed) else { return }
                read()
            }
        }
    }

    /// Handles a sequence of `inotify_event` structures, each followed by its padded name.
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
        func has(_ flags: Int...) -> Bool { flags.contains { mask & UInt32($0) != 0 } }
        if has(Int(IN_Q_OVERFLOW)) {
            state.pending.areLost = true
            // What was created and removed is unknown: search for new directories.
            checkRoot()
            return addDirectories(beneath: "")
        }
        if watch == state.parent {
            if has(Int(IN_IGNORED)) { state.parent = -1 }
            if place?.name.utf8.elementsEqual(name.utf8) == true || has(Int(IN_IGNORED), Int(IN_MOVE_SELF)) {
                checkRoot()
            }
            return
        }
        if has(Int(IN_IGNORED)) {
            // The root itself, if it was not open elsewhere.
            if state.directories.removeValue(forKey: watch) == "" { checkRoot() }
            return
        }
        guard let directory = state.directories[watch] else { return }
        let path = path(directory, name)
        has(Int(IN_ISDIR)) ? takeDirectory(path, mask) : takeFile(path, mask)
    }

    private func takeDirectory(_ path: String, _ mask: UInt32) {
        guard interest.directories(path) else { return }
        state.pending.isListChanged = true
        if mask & UInt32(IN_MOVED_FROM) != 0 { forget(path) }
        // It may already contain files and directories.
        if mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0, add(path) {
            addDirectories(beneath: path, areNew: true)
        }
    }

    private func takeFile(_ path: String, _ mask: UInt32) {
        if mask & UInt32(IN_MODIFY) != 0 { state.hasGrown = true }
        guard interest.files(path) else { return }
        if mask & UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO) != 0 {
            state.pending.isListChanged = true
        }
        if mask & UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_ATTRIB) != 0 { noteWritten(path) }
        if mask & UInt32(IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM) != 0 { state.growing.settle(path) }
        if mask & UInt32(IN_MODIFY) != 0 { noteGrown(path) }
    }

    /// Reports a write to a file that may stay open: now, or at the end of a second.
    private func noteGrown(_ path: String) {
        if state.growing.grew(path) { noteWritten(path) }
        guard !state.isTicking else { return }
        state.isTicking = true
        queue.asyncAfter(deadline: .now() + Self.growthInterval) { [weak self] in self?.endSecond() }
    }

    private func endSecond() {
        state.isTicking = false
        guard !isCancelled.load(ordering: .relaxed) else { return }
        let report = state.growing.endSecond()
        if report.areLost { state.pending.areLost = true }
        for path in report.paths { noteWritten(path) }
        schedule()
        guard !state.growing.isIdle else { return }
        state.isTicking = true
        queue.asyncAfter(deadline: .now() + Self.growthInterval) { [weak self] in self?.endSecond() }
    }

    private func noteWritten(_ path: String) {
        if state.pending.written.count < Self.maxWritten {
            state.pending.written.insert(path)
        } else {
            state.pending.areLost = true
        }
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
        if !changes.isEmpty, !isCancelled.load(ordering: .relaxed) { handler(changes) }
    }
}
#endif
