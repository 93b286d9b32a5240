#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The reason why a file that the configuration names could not be used, in words for people.
package struct ConfigFileError: Error {
    package var text: String

    package init(text: String) { self.text = text }
}

/// Reads the small files that a configuration consists of.
package enum ConfigFile {
    /// The largest size of a configuration and of any text in it.
    package static let maxBytes = 4 << 20

    /// Returns the bytes of a regular file; `name` is how messages refer to it.
    ///
    /// - Parameters:
    ///   - isPrivate: whether no one but its owner may read or write it.
    ///   - ofAnyUser: whether root accepts a private file of any user. Whoever owns it could change it.
    package static func bytes(
        at path: String, shownAs name: String, isPrivate: Bool = false, ofAnyUser: Bool = false,
        atMost maxBytes: Int = maxBytes
    ) throws(ConfigFileError) -> [UInt8] {
        // Without O_NONBLOCK, opening a FIFO would wait for a writer (fault row 98).
        let opened = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard opened >= 0 else { throw ConfigFileError(text: "cannot open \(name): \(reason(errno))") }
        let file = FileDescriptor(owning: opened)
        var status = stat()
        guard unsafe fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ConfigFileError(text: "\(name) is not a regular file")
        }
        let isAccepted = isPrivate && ofAnyUser && geteuid() == 0
        try checkOwner(status, path, name, isPrivate: isPrivate, isAccepted: isAccepted)
        if isPrivate, status.st_mode & 0o077 != 0 {
            throw ConfigFileError(
                text: "\(name) may be read or written by users other than its owner: chmod 600 it")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(file.rawValue, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ConfigFileError(text: "cannot read \(name): \(reason(errno))") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            if bytes.count > maxBytes {
                throw ConfigFileError(text: "\(name) is larger than \(maxBytes >> 20) MiB")
            }
        }
    }

    /// Checks who can change a file.
    ///
    /// A file of the configuration specifies what is run: anyone who may write it may do what this server
    /// may.
    ///
    /// Files of this user and of root are accepted. Write permission for a group is the administrator's
    /// decision.
    private static func checkOwner(
        _ status: stat, _ path: String, _ name: String, isPrivate: Bool, isAccepted: Bool
    ) throws(ConfigFileError) {
        guard isAccepted || status.st_uid == geteuid() || status.st_uid == 0 else {
            // Nobody but its owner may read a private file: root's would be of no use to the server.
            throw ConfigFileError(
                text: "\(name) belongs to another user, who could change it: "
                    + "chown it to the user that runs the server" + (isPrivate ? "" : ", or to root"))
        }
        if status.st_mode & 0o002 != 0 {
            throw ConfigFileError(text: "\(name) is writable by everyone: chmod o-w it")
        }
        let owners = [0, geteuid()] + (isAccepted ? [status.st_uid] : [])
        try ConfigFilePath(name: name, owners: owners).check(path)
    }

    /// Returns the text of a file without the newline at its end.
    package static func text(
        at path: String, shownAs name: String, isPrivate: Bool = false, ofAnyUser: Bool = false
    ) throws(ConfigFileError) -> String {
        let bytes = try bytes(at: path, shownAs: name, isPrivate: isPrivate, ofAnyUser: ofAnyUser)
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigFileError(text: "\(name) is not UTF-8 text")
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        return text
    }

    private static func reason(_ number: Int32) -> String { IOError(errno: number, function: "open").reason }
}
