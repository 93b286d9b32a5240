import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Reads the small files a configuration consists of.
enum ConfigFile {
    /// No configuration and no text in it is larger.
    static let maxBytes = 4 << 20

    /// The bytes of a regular file; `name` is how messages speak of it.
    static func bytes(at path: String, shownAs name: String, isPrivate: Bool = false) throws(ConfigFileError)
        -> [UInt8]
    {
        // Without O_NONBLOCK the open of a FIFO waits for a writer (fault row 98).
        let opened = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard opened >= 0 else { throw ConfigFileError(text: "cannot open \(name): \(reason(errno))") }
        let file = FileDescriptor(owning: opened)
        var status = stat()
        guard unsafe fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ConfigFileError(text: "\(name) is not a regular file")
        }
        if isPrivate, status.st_mode & 0o077 != 0 {
            throw ConfigFileError(
                text: "\(name) may be read or written by others than its owner: chmod 600 it")
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
                throw ConfigFileError(text: "\(name) is larger than \(Units.describe(bytes: maxBytes))")
            }
        }
    }

    /// The text of a file without the newline at its end.
    static func text(at path: String, shownAs name: String, isPrivate: Bool = false) throws(ConfigFileError)
        -> String
    {
        let bytes = try bytes(at: path, shownAs: name, isPrivate: isPrivate)
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigFileError(text: "\(name) is not UTF-8 text")
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        return text
    }

    private static func reason(_ number: Int32) -> String { IOError(errno: number, function: "open").reason }
}
