#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A file or directory beneath a root.
package struct RootEntry: Sendable, Hashable {
    /// The path beneath the root, with slashes.
    package let path: String
    /// Symlinks to regular files inside the root count as files; other symlinks as symlinks.
    package let info: FileInfo
}

/// What a listing found.
package struct RootListing: Sendable, Hashable {
    /// Sorted by the bytes of their paths.
    package var entries: [RootEntry]
    /// Whether a limit kept something out.
    package var isTruncated: Bool
    /// Names that are no UTF-8 and therefore cannot be given to a peer.
    package var unreadableNames: Int
}

extension RootDirectory {
    /// Lists a directory, with all that lies below it down to `maxDepth` levels.
    ///
    /// Symlinked directories are not entered, and directories that cannot be read are passed over.
    /// - Parameters:
    ///   - relative: the directory; the empty path is the root.
    ///   - maxDepth: 1 lists the directory alone.
    ///   - maxEntries: the most entries; the rest is left out and the listing marked as truncated.
    package func list(
        _ relative: String = "", maxDepth: Int = 1, maxEntries: Int = 10_000
    ) throws(RootError) -> RootListing {
        var listing = RootListing(entries: [], isTruncated: false, unreadableNames: 0)
        let top = try openDirectory(relative)
        let prefix = relative.isEmpty ? "" : try Self.components(relative).map { $0 + "/" }.joined()
        var pending = add(top, prefix: prefix, to: &listing, maxEntries)
        for depth in 1 ..< max(1, maxDepth) where !pending.isEmpty && depth < maxDepth {
            var next: [String] = []
            for path in pending {
                guard let directory = try? openDirectory(path) else { continue }
                next += add(directory, prefix: path + "/", to: &listing, maxEntries)
            }
            pending = next
        }
        listing.entries.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        return listing
    }

    /// All names of a directory are sorted before the first is listed, so their number is limited too.
    private static let maxNamesPerDirectory = 100_000

    /// Adds the entries of one directory; returns the paths of its subdirectories.
    private func add(
        _ directory: borrowing FileDescriptor, prefix: String, to listing: inout RootListing,
        _ maxEntries: Int
    ) -> [String] {
        var subdirectories: [String] = []
        for name in names(of: directory, &listing).sorted() {
            if listing.entries.count >= maxEntries {
                listing.isTruncated = true
                break
            }
            var status = stat()
            let fd = directory.rawValue
            guard unsafe fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            var info = FileInfo(status)
            let path = prefix + name
            if info.kind == .symlink, let target = try? self.info(path), target.kind == .file {
                info = target
            }
            if info.kind == .directory { subdirectories.append(path) }
            listing.entries.append(RootEntry(path: path, info: info))
        }
        return subdirectories
    }

    private func names(of directory: borrowing FileDescriptor, _ listing: inout RootListing) -> [String] {
        // readdir's stream owns its descriptor and shares the position of the description it was made from.
        guard let own = try? Syscalls.openat(directory.rawValue, ".", O_RDONLY | O_DIRECTORY) else {
            return []
        }
        let fd = own.release()
        guard let stream = unsafe fdopendir(fd) else {
            Syscalls.close(fd)
            return []
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(validatingCString: $0)
                }
            }
            guard let name else {
                listing.unreadableNames += 1
                continue
            }
            if name == "." || name == ".." { continue }
            if names.count >= Self.maxNamesPerDirectory {
                listing.isTruncated = true
                break
            }
            names.append(name)
        }
        return names
    }
}
