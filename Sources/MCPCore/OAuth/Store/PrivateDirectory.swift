#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A directory whose files belong to one user and are closed to all others.
package struct PrivateDirectory: Sendable {
    let path: String
    let user: UInt32

    /// Creates the name of a directory, which need not exist.
    package init(path: String, user: UInt32 = geteuid()) {
        self.path = path
        self.user = user
    }

    /// Returns the path of what this software remembers about its user: `$XDG_STATE_HOME/mcpcore`, else
    /// `~/.local/state/mcpcore`; nil if neither variable holds an absolute path.
    package static func statePath(_ variable: (String) -> String?) -> String? {
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/mcpcore" }
        guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/mcpcore"
    }

    /// Creates the directory and those above it, and checks it.
    package func create() throws(AuthorizationError) {
        if try check() { return }
        var made = path.hasPrefix("/") ? "" : "."
        for component in Files.components(path) {
            made += "/" + component
            do throws(IOError) {
                try Syscalls.require("mkdir") { Int(unsafe mkdir(made, 0o700)) }
            } catch {
                if error.errno == EEXIST { continue }
                throw AuthorizationError(
                    .store, "cannot create \(made): \(error.reason); nothing was stored", hint: Self.hint,
                    remedy: .store)
            }
        }
        _ = try check()
    }

    /// Returns whether the directory exists.
    ///
    /// - Throws: when others may use it.
    private func check() throws(AuthorizationError) -> Bool {
        let info: FileInfo
        do throws(IOError) { info = try Files.info(path) } catch {
            // In a directory that this user cannot enter, nothing of this user was stored.
            if [ENOENT, ENOTDIR, EACCES].contains(error.errno) { return false }
            throw AuthorizationError(
                .store, "cannot use \(path): \(error.reason); nothing was read", hint: Self.hint,
                remedy: .store)
        }
        switch info.kind {
        case .directory: break
        case .symlink:
            throw problem("", "is a symbolic link; nothing was read", hint: Self.hint, remedy: .store)
        case .file, .other:
            throw problem("", "is not a directory; nothing was read", hint: Self.hint, remedy: .store)
        }
        try checkOwner(info, "", mode: "700")
        return true
    }

    /// Returns the names of the files; none if the directory does not exist.
    package func names() throws(AuthorizationError) -> [String] {
        guard try check() else { return [] }
        do throws(IOError) { return try Files.names(in: path).names } catch {
            throw AuthorizationError(
                .store, "cannot list \(path): \(error.reason)", hint: Self.hint, remedy: .store)
        }
    }

    /// Returns the content of a file; nil if there is none.
    package func read(_ name: String, maxBytes: Int) throws(AuthorizationError) -> [UInt8]? {
        guard try check(), let file = try opened(name) else { return nil }
        return try content(of: file, name, maxBytes: maxBytes)
    }

    private func content(
        of file: borrowing FileDescriptor, _ name: String, maxBytes: Int
    ) throws(AuthorizationError) -> [UInt8] {
        let fd = file.rawValue
        let info: FileInfo
        do throws(IOError) { info = FileInfo(try Syscalls.status(fd)) } catch {
            throw failed("cannot read", name, error)
        }
        guard info.kind == .file else { throw problem(name, "is not a regular file; it was not read") }
        try checkOwner(info, name, mode: "600")
        do throws(IOError) { return try Files.read(file, maxBytes: maxBytes).bytes } catch {
            guard error.errno == EFBIG else { throw failed("cannot read", name, error) }
            throw problem(
                name, "is larger than \(maxBytes >> 10) KiB; it was not read",
                hint: "move it away, and log in again")
        }
    }

    private func opened(_ name: String) throws(AuthorizationError) -> FileDescriptor? {
        do throws(IOError) {
            return try Syscalls.open(path(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            if error.errno == ENOENT { return nil }
            throw failed("cannot read", name, error)
        }
    }

    /// Replaces a file as a whole, through a temporary one. The caller holds the lock of the file.
    package func replace(_ name: String, _ bytes: [UInt8]) throws(AuthorizationError) {
        let temporary = path(name) + ".tmp"
        // One that a process left behind when it was killed.
        unsafe unlink(temporary)
        do throws(IOError) {
            try Files.replace(path(name), with: bytes, mode: 0o600, isExact: true, through: temporary)
        } catch { throw failed("cannot write", name, error) }
    }

    /// Removes a file, which may be missing.
    package func remove(_ name: String) throws(AuthorizationError) {
        do throws(IOError) {
            try Syscalls.require("unlink") { Int(unsafe unlink(path(name))) }
        } catch {
            if error.errno != ENOENT { throw failed("cannot remove", name, error) }
        }
    }

    /// Opens a file for its lock, and creates it if it is missing.
    func openLock(_ name: String) throws(AuthorizationError) -> ProcessLock {
        do throws(ProcessLock.Failure) {
            return try ProcessLock(path(name))
        } catch {
            switch error {
            case .unusable(let what): throw problem(name, "\(what); nothing was changed", hint: "remove it")
            case .failed(let error): throw failed("cannot lock", name, error)
            }
        }
    }

    // MARK: JSON

    /// Decodes the content of a file, which names its version.
    func decode<Content: Decodable>(
        _ bytes: [UInt8], _ name: String, version: Int
    ) throws(AuthorizationError) -> Content {
        let hint = "move it away, and log in again"
        guard let json = try? RawJSON(validating: ByteSlice(bytes)), let found = json["version"]?.int else {
            throw problem(name, "is damaged; it was neither used nor overwritten", hint: hint)
        }
        guard found == version else {
            throw problem(
                name, "has version \(found), and this program knows version \(version); it was not used",
                hint: "use the program that wrote it, or move it away and log in again")
        }
        do { return try json.decode() } catch {
            throw problem(name, "is damaged; it was neither used nor overwritten", hint: hint)
        }
    }

    /// Encodes the content of a file.
    func encode(_ content: some Encodable, _ name: String) throws(AuthorizationError) -> [UInt8] {
        do { return Array(try RawJSON(encoding: content).bytes) } catch {
            throw problem(name, "was not written: its content is not valid JSON")
        }
    }

    // MARK: Errors

    /// Returns the error for a failed call.
    func failed(_ what: String, _ name: String, _ error: IOError) -> AuthorizationError {
        if error.errno == ELOOP { return problem(name, "is a symbolic link; it was not used") }
        return AuthorizationError(.store, "\(what) \(path(name)): \(error.reason)")
    }

    /// Returns an error about a file; an empty name stands for the directory.
    func problem(
        _ name: String, _ text: String, hint: String? = nil, remedy: AuthorizationError.Remedy? = nil
    ) -> AuthorizationError {
        AuthorizationError(.store, "\(path(name)) \(text)", hint: hint, remedy: remedy)
    }

    private static let hint = "choose another directory"

    /// Returns the path of a file in the directory.
    package func path(of name: String) -> String { path(name) }

    private func path(_ name: String) -> String { name.isEmpty ? path : "\(path)/\(name)" }

    private func checkOwner(_ info: FileInfo, _ name: String, mode: String) throws(AuthorizationError) {
        guard info.owner == user else {
            throw problem(name, "belongs to another user (\(info.owner)); it was not used")
        }
        guard info.permissions & 0o077 == 0 else {
            throw problem(
                name,
                "can be used by other users (mode \(String(info.permissions, radix: 8))); "
                    + "it was not read",
                hint: "chmod \(mode) \(path(name)); log in again if somebody may have read it")
        }
    }
}
