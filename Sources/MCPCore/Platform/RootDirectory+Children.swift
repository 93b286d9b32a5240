#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A name in a directory.
package struct RootChild: Sendable, Hashable {
    package let name: String
    package let isDirectory: Bool

    package init(name: String, isDirectory: Bool) {
        self.name = name
        self.isDirectory = isDirectory
    }

    /// The name as it begins the paths beneath: that of a directory ends with a slash.
    package var key: String { isDirectory ? name + "/" : name }
}

/// The names in one directory: its directories, and what may be files.
package struct RootChildren: Sendable, Hashable {
    /// In the order of the paths: of `a.md` and `a/b.md`, the first comes first.
    package var entries: [RootChild] = []
    /// Whether there are more names than were requested.
    package var isTruncated = false
    /// The number of names that are not UTF-8, which are left out.
    package var unreadableNames = 0

    package init() {}
}

extension RootDirectory {
    /// Returns the directories, regular files and symbolic links in a directory. A symbolic link is none of
    /// the directories, wherever it leads.
    ///
    /// - Parameters:
    ///   - relative: the directory; the empty path is the root.
    ///   - limit: the maximum number of names.
    package func children(of relative: String, atMost limit: Int) throws(RootError) -> RootChildren {
        let directory = try openDirectory(relative)
        let found: DirectoryNames
        do throws(IOError) {
            // The stream consumes its descriptor.
            let own = try Syscalls.openat(directory.rawValue, ".", O_RDONLY | O_DIRECTORY)
            found = try Files.names(in: own, atMost: limit)
        } catch { throw Self.describe(error, relative) }
        var children = RootChildren()
        children.isTruncated = found.isTruncated
        children.unreadableNames = found.unreadable
        children.entries.reserveCapacity(found.names.count)
        for (index, name) in found.names.enumerated() {
            var kind = found.kinds[index]
            if kind == .unknown { kind = try Self.kind(of: name, in: directory, relative) }
            switch kind {
            case .directory: children.entries.append(RootChild(name: name, isDirectory: true))
            case .file, .link: children.entries.append(RootChild(name: name, isDirectory: false))
            case .other, .unknown: break
            }
        }
        children.entries.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return children
    }

    /// Asks for the kind of an entry that the file system does not tell; one that is gone is `other`.
    private static func kind(
        of name: String, in directory: borrowing FileDescriptor, _ relative: String
    ) throws(RootError) -> DirectoryNames.Kind {
        var status = stat()
        do throws(IOError) {
            try Syscalls.require("fstatat", on: directory.rawValue) {
                Int(unsafe fstatat(directory.rawValue, name, &status, AT_SYMLINK_NOFOLLOW))
            }
        } catch {
            if error.errno == ENOENT { return .other }
            throw describe(error, relative)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .directory
        case S_IFREG: return .file
        case S_IFLNK: return .link
        default: return .other
        }
    }
}
