#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The users and groups of this host.
enum Accounts {
    private static let bufferBytes = 64 << 10

    /// Returns the id of a group; a number is used as it is.
    static func groupID(named name: String) -> UInt32? {
        if let number = UInt32(name) { return number }
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: bufferBytes)
        let status = unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &found)
        guard status == 0, unsafe found != nil else { return nil }
        return unsafe entry.gr_gid
    }

    /// Returns the id of a user; a number is used as it is.
    static func userID(named name: String) -> UInt32? {
        if let number = UInt32(name) { return number }
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: bufferBytes)
        let status = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        guard status == 0, unsafe found != nil else { return nil }
        return unsafe entry.pw_uid
    }
}
