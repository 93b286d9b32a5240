import MCPCore
import Synchronization

/// A path argument that a command receives as an open descriptor (`"x-open": true`).
struct OpenedPath: Sendable, Hashable {
    /// The name of the parameter.
    var parameter: String
    /// The path beneath the root.
    var path: String
    var root: String
}

/// Resolves path arguments to real paths beneath their roots; the kernel decides what is beneath.
final class PathResolver: Sendable {
    private let roots = Mutex<[String: RootDirectory]>([:])

    /// Returns the absolute path of an existing file or directory.
    func resolve(_ path: String, root: String) throws(ArgumentFailure) -> String {
        let directory = try directory(root)
        do throws(RootError) {
            return try directory.resolve(path)
        } catch {
            throw ArgumentFailure(text: Self.text(error))
        }
    }

    /// Opens an existing file or directory for a command.
    func open(_ file: OpenedPath) throws(ArgumentFailure) -> PassedDescriptor {
        let directory = try directory(file.root)
        do throws(RootError) {
            return try directory.descriptor(of: file.path)
        } catch {
            throw ArgumentFailure(text: "argument \"\(file.parameter)\": \(Self.text(error))")
        }
    }

    private func directory(_ root: String) throws(ArgumentFailure) -> RootDirectory {
        do throws(IOError) {
            return try open(root)
        } catch {
            // The root's name is private to the host and is not disclosed.
            throw ArgumentFailure(text: "its directory cannot be opened")
        }
    }

    /// Opens a root. Roots stay open, so that a renamed or replaced directory does not become another root.
    private func open(_ root: String) throws(IOError) -> RootDirectory {
        if let directory = roots.withLock({ $0[root] }) { return directory }
        let directory = try RootDirectory(root)
        return roots.withLock { roots in
            if let other = roots[root] { return other }
            roots[root] = directory
            return directory
        }
    }

    private static func text(_ error: RootError) -> String {
        switch error {
        case .outside: "it must be a relative path that stays beneath its directory, symbolic links included"
        case .invalid: "it is not a usable path"
        case .notFound: "no such file or directory"
        case .notRegular, .tooLarge: "it is not a file or directory"
        case .failed(let error): error.reason
        }
    }
}
