import Synchronization

#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The path of a unix socket, held by one server of this project at a time.
///
/// `PATH.lock` is locked as long as the path is held. An existing file at the path is removed only if it is a
/// socket of this user on which no process listens. At the end, only the socket that was bound here is
/// removed.
final class UnixSocketPath: Sendable {
    /// A file's identity, independent of its name.
    private struct Identity: Equatable {
        let device: UInt64
        let number: UInt64

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    private let counted = Counted(.unixSocketPath)
    private let path: String
    private let lockPath: String
    private let lock: ProcessLock
    /// The identity of the bound socket; nil before and after.
    private let bound = Mutex<Identity?>(nil)

    /// Takes the path; afterwards, no file exists there.
    init(_ path: String, _ address: SocketAddress) throws(ListenError) {
        self.path = path
        lockPath = "\(path).lock"
        lock = try Self.takeLock(lockPath, of: path)
        do throws(ListenError) {
            try Self.removeStale(path, address)
        } catch {
            removeLock()
            throw error
        }
    }

    // MARK: Binding

    /// Binds a socket that is not listening yet, and sets its mode and group.
    ///
    /// No client can connect before `listen`, so the mode until then does not matter. The umask of the
    /// process is not changed: it belongs to all threads of a program that embeds the server.
    func bind(_ socket: Int32, _ address: SocketAddress, mode: UInt32, group: UInt32?) throws(ListenError) {
        do throws(IOError) {
            // On Linux the file inherits the mode of the socket; elsewhere this has no effect.
            _ = fchmod(socket, 0o600)
            // This fails if something exists there by now, even a dangling symbolic link.
            try Syscalls.bind(socket, to: address)
            let status = try Self.look(path)
            guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
                throw IOError(errno: EEXIST, function: "bind")
            }
            bound.withLock { $0 = Identity(status) }
            try setAccess(status, mode, group)
        } catch {
            release()
            throw ListenError("cannot listen on unix://\(path): \(Self.words(error, path, group))")
        }
    }

    /// Sets the mode and group of the socket file.
    ///
    /// On Linux this uses a descriptor of the file itself. On no system does it follow a symbolic link, which
    /// another user with write access to the directory could have placed there in the meantime.
    private func setAccess(_ status: stat, _ mode: UInt32, _ group: UInt32?) throws(IOError) {
        let isRight = UInt32(status.st_mode) & 0o7777 == mode
        if isRight, group == nil || group == status.st_gid { return }
        #if os(Linux)
        let file = try Syscalls.open(path, Int32(MCP_O_PATH) | O_NOFOLLOW)
        guard Identity(try Syscalls.status(file.rawValue)) == Identity(status) else {
            throw IOError(errno: EEXIST, function: "bind")
        }
        let name = "/proc/self/fd/\(file.rawValue)"
        if let group { try Syscalls.require("chown") { Int(unsafe chown(name, uid_t.max, gid_t(group))) } }
        try Syscalls.require("chmod") { Int(unsafe chmod(name, mode_t(mode))) }
        #else
        if let group { try Syscalls.require("chown") { Int(unsafe lchown(path, uid_t.max, gid_t(group))) } }
        try Syscalls.require("chmod") {
            Int(unsafe fchmodat(AT_FDCWD, path, mode_t(mode), AT_SYMLINK_NOFOLLOW))
        }
        #endif
    }

    // MARK: Removal

    /// Removes the lock and the socket that was bound, so that no dead socket file is left behind.
    ///
    /// The socket must still be open: as long as it is, no other file has its inode number.
    func release() {
        let identity = bound.withLock { $0.take() }
        if let identity, let now = try? Self.look(path), Identity(now) == identity { unsafe unlink(path) }
        removeLock()
    }

    /// Removes the lock file with its last holder, unless something has been written to it.
    private func removeLock() {
        guard let own = try? Syscalls.status(lock.file.rawValue), own.st_mode & S_IFMT == S_IFREG,
            own.st_size == 0, own.st_uid == geteuid(), let now = try? Self.look(lockPath),
            Identity(now) == Identity(own)
        else { return }
        unsafe unlink(lockPath)
    }

    // MARK: Existing files

    private static func takeLock(_ lockPath: String, of path: String) throws(ListenError) -> ProcessLock {
        do throws(ProcessLock.Failure) {
            // The previous holder may remove the file between open and flock; then a new file may have taken
            // its place.
            for _ in 0 ..< 100 {
                let lock = try ProcessLock(lockPath)
                do throws(IOError) {
                    guard try lock.take() else { break }
                    let own = try Syscalls.status(lock.file.rawValue)
                    if let now = try? look(lockPath), Identity(now) == Identity(own) { return lock }
                } catch { throw .failed(error) }
            }
            throw .failed(IOError(errno: EAGAIN, function: "flock"))
        } catch {
            throw ListenError("cannot listen on unix://\(path): \(words(error, lockPath))")
        }
    }

    private static func words(_ failure: ProcessLock.Failure, _ lockPath: String) -> String {
        switch failure {
        case .unusable(let what): "the lock file \(lockPath) \(what); remove it or choose another path"
        case .failed(let error):
            switch error.errno {
            case EAGAIN: "another server is using it"
            case ENOENT: "its directory does not exist; create it first"
            case EACCES, EROFS, EPERM:
                "the lock file \(lockPath) cannot be created or opened: \(error.reason); "
                    + "choose a directory that you can write to, or remove the lock file of another user"
            default: "\(lockPath) cannot be locked: \(error.reason)"
            }
        }
    }

    /// Removes a socket that a dead server of this user has left behind; refuses to touch anything else.
    private static func removeStale(_ path: String, _ address: SocketAddress) throws(ListenError) {
        func refusal(_ what: String) -> ListenError {
            ListenError(
                "cannot listen on unix://\(path): \(what) and was left alone; "
                    + "choose another path or remove it yourself")
        }
        let status: stat
        do throws(IOError) {
            status = try look(path)
        } catch {
            if error.errno == ENOENT { return }
            throw ListenError("cannot listen on unix://\(path): \(error.reason)")
        }
        switch status.st_mode & S_IFMT {
        case S_IFSOCK: break
        case S_IFREG: throw refusal("it is a regular file")
        case S_IFDIR: throw refusal("it is a directory")
        case S_IFLNK: throw refusal("it is a symbolic link")
        default: throw refusal("it is not a socket")
        }
        guard status.st_uid == geteuid() || geteuid() == 0 else {
            throw refusal("it is another user's socket")
        }
        do throws(IOError) {
            let probe = try Syscalls.streamSocket(address.domain)
            _ = try Syscalls.connect(probe.rawValue, to: address)
        } catch {
            guard error.errno == ECONNREFUSED else {
                // For example a datagram socket, or one that this user may not connect to.
                throw refusal("it is a socket that may be in use (\(error.reason))")
            }
            if let now = try? look(path), Identity(now) == Identity(status) { unsafe unlink(path) }
            return
        }
        throw ListenError("cannot listen on unix://\(path): another server is using it")
    }

    private static func look(_ path: String) throws(IOError) -> stat {
        var status = stat()
        try Syscalls.require("lstat") { Int(unsafe lstat(path, &status)) }
        return status
    }

    private static func words(_ error: IOError, _ path: String, _ group: UInt32?) -> String {
        switch (error.function, error.errno) {
        case ("chown", EPERM):
            "its user is not a member of the group \(groupName(group ?? 0)): usermod -aG, or "
                + "SupplementaryGroups= in the unit of systemd"
        case (_, EADDRINUSE), (_, EEXIST): "something else was created there in the meantime"
        case (_, EACCES), (_, EROFS): "its directory is not writable: \(error.reason)"
        default: "\(error)"
        }
    }

    /// Returns the name of a group; its number if it has none.
    private static func groupName(_ id: UInt32) -> String {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        let status = unsafe getgrgid_r(id, &entry, &buffer, buffer.count, &found)
        guard status == 0, unsafe found != nil else { return "\(id)" }
        return unsafe String(cString: entry.gr_name)
    }
}
