#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A user of this host.
struct Account: Sendable, Hashable {
    var id: UInt32
    /// The primary group.
    var group: UInt32
    /// The home directory; `nil` for a number without an entry.
    var home: String?
}

/// The users and groups of this host.
enum Accounts {
    private static let bufferBytes = 64 << 10

    /// The user id of this process.
    static var ownUserID: UInt32 { geteuid() }

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

    /// Returns the name of a group; its number if it has none.
    static func groupName(_ id: UInt32) -> String {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: bufferBytes)
        let status = unsafe getgrgid_r(id, &entry, &buffer, buffer.count, &found)
        guard status == 0, unsafe found != nil else { return "\(id)" }
        return unsafe String(cString: entry.gr_name)
    }

    /// Returns the name of a user; its number if it has none.
    static func userName(_ id: UInt32) -> String {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: bufferBytes)
        let status = unsafe getpwuid_r(id, &entry, &buffer, buffer.count, &found)
        guard status == 0, unsafe found != nil else { return "\(id)" }
        return unsafe String(cString: entry.pw_name)
    }

    /// Whether this process has a group.
    static func isMember(of id: UInt32) -> Bool {
        if getegid() == id { return true }
        let count = getgroups(0, nil)
        guard count > 0 else { return false }
        var groups = [gid_t](repeating: 0, count: Int(count))
        let filled = unsafe getgroups(count, &groups)
        return groups.prefix(max(0, Int(filled))).contains(id)
    }

    /// Returns the id of a user; a number is used as it is.
    static func userID(named name: String) -> UInt32? { UInt32(name) ?? account(named: name)?.id }

    /// Returns a user. A number is used as it is; without an entry, it is also that of the group.
    static func account(named name: String) -> Account? {
        let number = UInt32(name)
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: bufferBytes)
        let status: Int32
        if let number {
            status = unsafe getpwuid_r(number, &entry, &buffer, buffer.count, &found)
        } else {
            status = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        }
        guard status == 0, unsafe found != nil else {
            return number.map { Account(id: $0, group: $0) }
        }
        return unsafe Account(
            id: entry.pw_uid, group: entry.pw_gid, home: String(cString: entry.pw_dir))
    }
}
