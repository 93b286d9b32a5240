#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A file that processes lock in turn (flock(2)).
///
/// Whoever can open a file can lock it, so nobody but its owner can open this one: it has the mode 0600, no
/// other name, and the owner is this user or that of the directory, who can replace it at any time. What
/// stands in its place otherwise, such as a symbolic link, is refused and stays as it is. The lock ends with
/// the value, and with the process.
package struct ProcessLock: ~Copyable, Sendable {
    package enum Failure: Error, Hashable {
        /// What is wrong with what stands at the path, as the rest of a sentence about it.
        case unusable(String)
        case failed(IOError)
    }

    let file: FileDescriptor

    /// Opens the file, which is created if it is missing.
    package init(_ path: String) throws(Failure) { file = try Self.checked(path) }

    private static func checked(_ path: String) throws(Failure) -> FileDescriptor {
        let file = try open(path)
        if let problem = try problem(file.rawValue, at: path) { throw .unusable(problem) }
        return file
    }

    private static func open(_ path: String) throws(Failure) -> FileDescriptor {
        do throws(IOError) {
            return try Syscalls.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
        } catch { throw error.errno == ELOOP ? .unusable("is a symbolic link") : .failed(error) }
    }

    private static func problem(_ number: Int32, at path: String) throws(Failure) -> String? {
        let status: stat
        do throws(IOError) { status = try Syscalls.status(number) } catch { throw .failed(error) }
        guard status.st_mode & S_IFMT == S_IFREG else { return "is not a regular file" }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { String(path[...$0]) } ?? "."
        if status.st_uid != geteuid() {
            // A directory that cannot be looked at has an owner who is not known.
            guard let owner = try? Files.info(directory, followsLinks: true).owner, owner == status.st_uid
            else { return "belongs to another user (\(status.st_uid))" }
        }
        // The file of somebody else can have been given this name. One without a name was just removed.
        guard status.st_nlink <= 1 else { return "has another name as well" }
        let mode = UInt32(status.st_mode) & 0o7777
        return mode & 0o077 == 0 ? nil : "can be used by other users (mode \(String(mode, radix: 8)))"
    }

    /// Takes the lock; returns false if another process holds it, or another value of this process.
    package func take() throws(IOError) -> Bool {
        let number = file.rawValue
        return try Syscalls.perform("flock", on: number) { Int(flock(number, LOCK_EX | LOCK_NB)) } != nil
    }

    /// Waits for the lock with a thread that may wait.
    ///
    /// - Returns: false if the lock was not free within the limit, or `isWanted` returned false.
    package func take(within limit: Duration, while isWanted: () -> Bool = { true }) throws(IOError) -> Bool {
        let end = SystemClock().now + limit
        while try !take() {
            guard isWanted(), SystemClock().now < end else { return false }
            usleep(Self.interval)
        }
        return true
    }

    /// The time between two attempts, in microseconds.
    private static let interval: UInt32 = 10_000

    /// Gives the file to a user and a group; only root can.
    package func give(to user: UInt32, group: UInt32) throws(IOError) {
        try Syscalls.require("fchown", on: file.rawValue) {
            Int(fchown(file.rawValue, uid_t(user), gid_t(group)))
        }
    }
}
