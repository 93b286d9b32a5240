#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The check of the way to a file of the configuration: who owns a directory or a symbolic link on it decides
/// which file is read.
struct ConfigFilePath {
    /// How messages refer to the file.
    let name: String
    /// The users who may own what is on the way.
    let owners: [uid_t]

    /// The maximum number of symbolic links, as in the kernel.
    private static let maxLinks = 40

    /// Checks each directory and each symbolic link from the root to the file.
    ///
    /// Each belongs to one of the owners. A directory that everyone may write to has the sticky bit, with
    /// which nobody can replace the files of others; what others add there is refused because it is theirs.
    func check(_ path: String) throws(ConfigFileError) {
        let whole = path.hasPrefix("/") ? path : "\(Files.currentDirectory ?? "/")/\(path)"
        var rest = Array(Files.components(whole).reversed())
        var current: [String] = []
        var links = 0
        try checkDirectory(status(of: "/"), "/")
        while let next = rest.popLast() {
            if next == "." { continue }
            if next == ".." {
                _ = current.popLast()
                continue
            }
            let place = "/" + (current + [next]).joined(separator: "/")
            let status = try status(of: place)
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                try checkOwner(status, "the link \(place)")
                links += 1
                guard links <= Self.maxLinks, let target = Self.target(of: place) else {
                    throw unreadable(place)
                }
                if target.hasPrefix("/") { current = [] }
                rest += Files.components(target).reversed()
            case S_IFDIR:
                try checkDirectory(status, place)
                current.append(next)
            default:
                // The file itself, which was checked when it was open.
                current.append(next)
            }
        }
    }

    private func checkDirectory(_ status: stat, _ place: String) throws(ConfigFileError) {
        try checkOwner(status, "its directory \(place)")
        if status.st_mode & 0o002 != 0, status.st_mode & 0o1000 == 0 {
            throw ConfigFileError(
                text: "\(name) can be replaced by anyone: chmod o-w its directory \(place)")
        }
    }

    private func checkOwner(_ status: stat, _ what: String) throws(ConfigFileError) {
        if owners.contains(status.st_uid) || Self.isUnmapped(status.st_uid) { return }
        throw ConfigFileError(
            text: "\(name) can be replaced by another user: chown \(what) to the user that runs the server, "
                + "or to root")
    }

    /// Whether a user of a namespace cannot tell who this is: the directories of the system then seem to
    /// belong to nobody.
    private static func isUnmapped(_ user: uid_t) -> Bool {
        #if os(Linux)
        guard user == 65_534, let map = try? Files.read("/proc/self/uid_map", maxBytes: 4 << 10) else {
            return false
        }
        let fields = String(decoding: map, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return fields != ["0", "0", "4294967295"]
        #else
        return false
        #endif
    }

    private func status(of place: String) throws(ConfigFileError) -> stat {
        var status = stat()
        guard unsafe lstat(place, &status) == 0 else { throw unreadable(place) }
        return status
    }

    private func unreadable(_ place: String) -> ConfigFileError {
        ConfigFileError(text: "cannot tell who can replace \(name): \(place) cannot be read")
    }

    private static func target(of link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            let text = unsafe bytes.bindMemory(to: CChar.self)
            return unsafe text.baseAddress.map { unsafe readlink(link, $0, text.count) } ?? 0
        }
        return count > 0 && count < buffer.count ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
