import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Directories that nobody but this user can look into.
enum PrivateDirectory {
    /// Makes a directory, and those above it that are missing, with mode 0700.
    ///
    /// One that is there already is taken only when it is of this user and of mode 0700.
    static func prepare(_ path: String) throws(ClientToolSetupError) {
        try make(path)
        do {
            let info = try Files.info(path)
            guard info.kind == .directory else { throw ClientToolSetupError("\(path) is not a directory") }
            guard info.owner == geteuid() else {
                throw ClientToolSetupError("\(path) belongs to another user; remove it or name another place")
            }
            guard info.permissions & 0o077 == 0 else {
                throw ClientToolSetupError("others may look into \(path): chmod 700 it")
            }
        } catch let error as ClientToolSetupError {
            throw error
        } catch {
            throw ClientToolSetupError("cannot look at \(path): \(error)")
        }
    }

    /// Makes a directory, and those above it that are missing, with mode 0700; one that is there stays as it
    /// is.
    static func make(_ path: String) throws(ClientToolSetupError) {
        var directory = ""
        for name in Paths.components(path) {
            directory += "/\(name)"
            if unsafe mkdir(directory, 0o700) == 0 { continue }
            let number = errno
            // One that is there may stand where this user can make none.
            guard let problem = Paths.directoryProblem(directory) else { continue }
            let reason = IOError(errno: number, function: "mkdir").reason
            throw ClientToolSetupError(
                number == EEXIST
                    ? "\(directory) \(problem)" : "cannot make the directory \(directory): \(reason)")
        }
    }
}

/// Why tools of other programs cannot be taken in.
struct ClientToolSetupError: Error, Hashable, CustomStringConvertible {
    var text: String
    var description: String { text }

    init(_ text: String) { self.text = text }
}
