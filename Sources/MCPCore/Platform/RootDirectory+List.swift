#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A file or directory beneath a root.
package struct RootEntry: Sendable, Hashable {
    /// The path beneath the root, separated by slashes.
    package let path: String
    /// The properties of the entry. Symlinks to regular files inside the root count as files, other symlinks
    /// as symlinks.
    package let info: FileInfo

    package init(path: String, info: FileInfo) {
        self.path = path
        self.info = info
    }
}

/// The result of a listing.
package struct RootListing: Sendable, Hashable {
    /// The entries, sorted by the bytes of their paths.
    package var entries: [RootEntry] = []
    /// Whether something was left out because of a limit or a missing permission.
    package var isTruncated = false
    /// The number of names that are not UTF-8 and therefore cannot be sent to a peer.
    package var unreadableNames = 0
    /// The first directory or file that this process may not access, and why; for the log.
    package var denied: RootError?

    /// Creates an empty listing.
    package init() {}
}

extension RootDirectory {
    /// Lists a directory and everything below it, down to `maxDepth` levels.
    ///
    /// Symlinked directories are not entered. Entries that disappear during the listing are not included.
    /// Entries that this process may not access are left out, and the listing is marked as truncated. Any
    /// other failure to read a part, such as too many open files, is an error: it never just makes a listing
    /// shorter.
    /// - Parameters:
    ///   - relative: the directory; the empty path is the root.
    ///   - maxDepth: 1 lists only the directory itself.
    ///   - maxEntries: the maximum number of entries; the rest are left out, and the listing is marked as
    ///     truncated.
    package func list(
        _ relative: String = "", maxDepth: Int = 1, maxEntries: Int = 10_000
    ) throws(RootError) -> RootListing {
        var listing = RootListing()
        let prefix = relative.isEmpty ? "" : try Self.components(relative).map { $0 + "/" }.joined()
        var pending = try add(relative, prefix: prefix, to: &listing, maxEntries)
        for depth in 1 ..< max(1, maxDepth) where !pending.isEmpty && depth < maxDepth {
            var next: [String] = []
            for path in pending {
                do throws(RootError) {
                    next += try add(path, prefix: path + "/", to: &listing, maxEntries)
                } catch {
                    try listing.leaveOut(error)
                }
            }
            pending = next
        }
        listing.entries.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        return listing
    }

    /// The limit on the names of one directory, which are all sorted before the first is listed.
    private static let maxNamesPerDirectory = 100_000

    /// Adds the entries of one directory; returns the paths of its subdirectories.
    private func add(
        _ relative: String, prefix: String, to listing: inout RootListing, _ maxEntries: Int
    ) throws(RootError) -> [String] {
        let directory = try openDirectory(relative)
        var subdirectories: [String] = []
        for name in try names(of: directory, relative, &listing) {
            if listing.entries.count >= maxEntries {
                listing.isTruncated = true
                break
            }
            let path = prefix + name
            do throws(RootError) {
                let info = try info(of: name, in: directory, path)
                if info.kind == .directory { subdirectories.append(path) }
                listing.entries.append(RootEntry(path: path, info: info))
            } catch {
                try listing.leaveOut(error)
            }
        }
        return subdirectories
    }

    private func info(
        of name: String, in directory: borrowing FileDescriptor, _ path: String
    ) throws(RootError) -> FileInfo {
        var status = stat()
        do throws(IOError) {
            try Syscalls.require("fstatat", on: directory.rawValue) {
                Int(unsafe fstatat(directory.rawValue, name, &status, AT_SYMLINK_NOFOLLOW))
            }
        } catch { throw Self.describe(error, path) }
        let own = FileInfo(status)
        guard own.kind == .symlink else { return own }
        do throws(RootError) {
            let target = try info(path)
            return target.kind == .file ? target : own
        } catch {
            switch error {
            // It leads out of the root, nowhere, or to something that is not accessible: just a symlink.
            case .outside, .invalid, .notFound, .notRegular, .tooLarge: return own
            case .failed: if error.isDenied { return own } else { throw error }
            }
        }
    }

    private func names(
        of directory: borrowing FileDescriptor, _ relative: String, _ listing: inout RootListing
    ) throws(RootError) -> [String] {
        do throws(IOError) {
            // The stream consumes its descriptor and shares the position of the open file description it was
            // made from.
            let own = try Syscalls.openat(directory.rawValue, ".", O_RDONLY | O_DIRECTORY)
            let found = try Files.names(in: own, atMost: Self.maxNamesPerDirectory)
            listing.unreadableNames += found.unreadable
            listing.isTruncated = listing.isTruncated || found.isTruncated
            return found.names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        } catch { throw Self.describe(error, relative) }
    }
}

extension RootListing {
    /// Leaves out something that is gone, that has been replaced by something else, or that this process may
    /// not access.
    ///
    /// - Throws: the error itself if a later attempt could find more.
    package mutating func leaveOut(_ error: RootError) throws(RootError) {
        switch error {
        case .notFound, .outside, .notRegular: break
        // Nested too deeply for the longest possible path.
        case .invalid, .tooLarge: isTruncated = true
        case .failed:
            guard error.isDenied else { throw error }
            isTruncated = true
            if denied == nil { denied = error }
        }
    }
}
