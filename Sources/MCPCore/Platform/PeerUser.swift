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

/// The user of a process of this machine that has the other end of a connection, as the system knows it.
struct PeerUser: Sendable, Hashable {
    let user: UInt32
    /// The primary group; nil where the system does not tell it.
    let group: UInt32?

    /// Whether the system can tell the user of a TCP connection.
    static var knowsTCP: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// Whether it is the user of this process.
    var isOwn: Bool { user == Self.own }

    /// The user of this process. Asked for once: it is compared with for every request.
    private static let own = geteuid()

    /// Finds the user at the other end of a connected socket: a unix socket, or on Linux a TCP connection
    /// within this machine. Nil for all others, and for a process that has closed its end.
    static func of(_ fd: Int32) -> PeerUser? {
        guard let local = try? Syscalls.localAddress(fd), let peer = try? Syscalls.peerAddress(fd) else {
            return nil
        }
        if local.family == .unix {
            // A peer that cannot be identified is nobody.
            return (try? Syscalls.peerCredentials(fd)).map { PeerUser(user: $0.user, group: $0.group) }
        }
        guard peer.isLoopback, let user = ofTCP(peer, connectedTo: local) else { return nil }
        // After a reset, another process may have had the same ports by the time of the question.
        guard (try? Syscalls.connectionError(fd)) == .some(nil) else { return nil }
        return PeerUser(user: user, group: nil)
    }

    private static func ofTCP(_ peer: SocketAddress, connectedTo local: SocketAddress) -> UInt32? {
        #if os(Linux)
        func padded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            Array(bytes) + [UInt8](repeating: 0, count: 16 - bytes.count)
        }
        var user: UInt32 = 0
        let status = unsafe mcp_tcp_user(
            peer.domain, padded(peer.hostBytes), peer.port.bigEndian, padded(local.hostBytes),
            local.port.bigEndian, &user)
        return status == 0 ? user : nil
        #else
        return nil
        #endif
    }

    // MARK: Names

    /// The name of the user in the system's database; nil without an entry. May wait for a directory service.
    var name: String? { Self.entry(of: user)?.name }

    /// The groups of the user, with the supplementary ones. May wait for a directory service.
    var groups: Set<UInt32> {
        let entry = Self.entry(of: user)
        var groups: Set<UInt32> = []
        if let group = group ?? entry?.group { groups.insert(group) }
        guard let entry else { return groups }
        #if canImport(Darwin)
        var count: Int32 = 256
        var list = [Int32](repeating: 0, count: Int(count))
        let found = unsafe getgrouplist(entry.name, Int32(bitPattern: entry.group), &list, &count)
        let numbers = list.map { UInt32(bitPattern: $0) }
        #else
        var count: Int32 = 256
        var list = [gid_t](repeating: 0, count: Int(count))
        var found = unsafe getgrouplist(entry.name, entry.group, &list, &count)
        if found < 0, count > 256, count <= 65_536 {
            list = [gid_t](repeating: 0, count: Int(count))
            found = unsafe getgrouplist(entry.name, entry.group, &list, &count)
        }
        let numbers = list
        #endif
        guard found >= 0 else { return groups }
        return groups.union(numbers.prefix(Int(max(0, count))))
    }

    private static func entry(of user: UInt32) -> (name: String, group: UInt32)? {
        var record = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        let status = unsafe getpwuid_r(user, &record, &buffer, buffer.count, &found)
        guard status == 0, unsafe found != nil, let name = unsafe record.pw_name else { return nil }
        return (unsafe String(cString: name), unsafe record.pw_gid)
    }
}
