import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Directories that no other user can look into.
enum PrivateDirectory {
    /// Creates a directory, and the missing ones above it, with mode 0700.
    ///
    /// An existing directory is accepted only if it belongs to this user and has mode 0700.
    static func prepare(_ path: String) throws(ClientToolSetupError) {
        try make(path)
        do {
            let info = try Files.info(path)
            guard info.kind == .directory else { throw ClientToolSetupError("\(path) is not a directory") }
            guard info.owner == geteuid() else {
                throw ClientToolSetupError("\(path) belongs to another user; remove it or use another path")
            }
            guard info.permissions & 0o077 == 0 else {
                throw ClientToolSetupError("other users can access \(path): chmod 700 it")
            }
        } catch let error as ClientToolSetupError {
            throw error
        } catch {
            throw ClientToolSetupError("cannot access \(path): \(error)")
        }
    }

    /// Creates a directory, and the missing ones above it, with mode 0700; an existing one is left as it is.
    static func make(_ path: String) throws(ClientToolSetupError) {
        var directory = ""
        for name in Paths.components(path) {
            directory += "/\(name)"
            if unsafe mkdir(directory, 0o700) == 0 { continue }
            let number = errno
            // An existing directory may be in a place where this user cannot create one.
            guard let problem = Paths.directoryProblem(directory) else { continue }
            let reason = IOError(errno: number, function: "mkdir").reason
            throw ClientToolSetupError(
                number == EEXIST
                    ? "\(directory) \(problem)" : "cannot create the directory \(directory): \(reason)")
        }
    }
}

/// The reason why tools of other programs cannot be accepted.
struct ClientToolSetupError: Error, Hashable, CustomStringConvertible {
    var text: String
    var description: String { text }

    init(_ text: String) { self.text = text }
}
