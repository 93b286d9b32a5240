#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
// With the static standard library, the kinds of sockets belong to this module.
import CMCPSystem
import Glibc
#endif

/// The address of a stream socket: IPv4, IPv6 or a path in the file system.
struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    enum Family: Sendable, Hashable { case ipv4, ipv6, unix }

    let family: Family
    /// The `sockaddr` in the operating system's layout.
    private let bytes: [UInt8]

    /// The longest path of a unix socket in bytes, without the terminating NUL.
    static let maxUnixPathBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private init(family: Family, bytes: [UInt8]) {
        self.family = family
        self.bytes = bytes
    }

    /// Creates an address from a numeric one such as `127.0.0.1`, `::1` or `[::1]`; nil for anything else.
    /// Nothing is looked up.
    init?(numeric host: String, port: UInt16) {
        if host.utf8.contains(0) { return nil }
        let host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if unsafe inet_pton(AF_INET, host, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            #if canImport(Darwin)
            // The kernel sets it in the addresses that it returns; without it here, equal addresses would
            // compare as different.
            four.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
            #endif
            four.sin_port = port.bigEndian
            self.init(family: .ipv4, bytes: unsafe withUnsafeBytes(of: four) { unsafe Array($0) })
        } else if unsafe inet_pton(AF_INET6, host, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            #if canImport(Darwin)
            six.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
            #endif
            six.sin6_port = port.bigEndian
            self.init(family: .ipv6, bytes: unsafe withUnsafeBytes(of: six) { unsafe Array($0) })
        } else {
            return nil
        }
    }

    /// Returns `127.0.0.1` for that address in any form, such as `127.1`, `0x7f.0.0.1`, `017700000001` or
    /// `2130706433`; nil for what is not an address of IPv4.
    static func dottedIPv4(_ text: String) -> String? {
        var address = in_addr()
        guard unsafe inet_aton(text, &address) != 0 else { return nil }
        let value = UInt32(bigEndian: address.s_addr)
        return (0 ..< 4).map { String(value >> (24 - 8 * UInt32($0)) & 0xFF) }.joined(separator: ".")
    }

    /// Creates the address of a unix socket; nil when the path is empty, longer than `maxUnixPathBytes` or
    /// contains NUL.
    init?(unixPath path: String) {
        let path = Array(path.utf8)
        guard !path.isEmpty, path.count <= Self.maxUnixPathBytes, !path.contains(0) else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        #if canImport(Darwin)
        address.sun_len = UInt8(MemoryLayout<sockaddr_un>.size)
        #endif
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        self.init(family: .unix, bytes: unsafe withUnsafeBytes(of: address) { unsafe Array($0) })
    }

    /// Reads the address that accept, getsockname or getpeername stored; nil for other families.
    init?(storage: sockaddr_storage) {
        let size: Int
        switch Int32(storage.ss_family) {
        case AF_INET: (family, size) = (.ipv4, MemoryLayout<sockaddr_in>.size)
        case AF_INET6: (family, size) = (.ipv6, MemoryLayout<sockaddr_in6>.size)
        case AF_UNIX: (family, size) = (.unix, MemoryLayout<sockaddr_un>.size)
        default: return nil
        }
        bytes = unsafe withUnsafeBytes(of: storage) { unsafe Array($0.prefix(size)) }
    }

    /// Calls `body` with the address in the form that bind and connect accept.
    func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var storage = sockaddr_storage()
        return unsafe withUnsafeMutableBytes(of: &storage) { raw in
            unsafe raw.copyBytes(from: bytes)
            return unsafe raw.withMemoryRebound(to: sockaddr.self) { address in
                unsafe body(UnsafePointer(address.baseAddress.unsafelyUnwrapped), socklen_t(bytes.count))
            }
        }
    }

    var domain: Int32 {
        switch family {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix: AF_UNIX
        }
    }

    /// The port in host byte order; 0 for a unix socket. It is at the same offset in both kinds of IP
    /// address.
    var port: UInt16 { family == .unix ? 0 : UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }

    /// The bytes of the address alone, in network order: 4 for IPv4, 16 for IPv6, none for a unix socket.
    var hostBytes: ArraySlice<UInt8> {
        switch family {
        case .ipv4: bytes[4 ..< 8]
        case .ipv6: bytes[8 ..< 24]
        case .unix: []
        }
    }

    /// The path of a unix socket.
    var unixPath: String? {
        guard family == .unix, let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) else {
            return nil
        }
        return String(decoding: bytes[start...].prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Whether the address can be reached only from this machine: 127.0.0.0/8, ::1, ::ffff:127.0.0.0/104 and
    /// unix sockets.
    var isLoopback: Bool {
        switch family {
        case .ipv4: return bytes[4] == 127
        case .ipv6:
            let host = bytes[8 ..< 24]
            return host.elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
                || host.prefix(13).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127])
        case .unix: return true
        }
    }

    /// The host in numeric form, without brackets, or the path of a unix socket.
    var host: String {
        if let path = unixPath { return path }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let offset = family == .ipv4 ? 4 : 8
        let filled = unsafe bytes.withUnsafeBytes { raw in
            unsafe inet_ntop(domain, raw.baseAddress.unsafelyUnwrapped + offset, &text, socklen_t(text.count))
                != nil
        }
        return filled
            ? String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "?"
    }

    /// `127.0.0.1:8080`, `[::1]:8080` or the path.
    var description: String {
        switch family {
        case .ipv4: "\(host):\(port)"
        case .ipv6: "[\(host)]:\(port)"
        case .unix: host
        }
    }
}

extension SocketAddress {
    /// Looks up a host name; numeric addresses are not looked up.
    ///
    /// It blocks, for seconds when the network is bad.
    ///
    /// - Throws: `ResolveError` with the resolver's text when nothing was found.
    static func resolve(host: String, port: UInt16) throws(ResolveError) -> [SocketAddress] {
        if let numeric = SocketAddress(numeric: host, port: port) { return [numeric] }
        var hints = unsafe addrinfo()
        #if os(Linux) && !canImport(Musl)
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        unsafe hints.ai_socktype = SOCK_STREAM
        #endif
        unsafe hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else {
            throw ResolveError(host: host, reason: unsafe String(cString: gai_strerror(status)))
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            var storage = sockaddr_storage()
            let length = min(Int(unsafe entry.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
            unsafe withUnsafeMutableBytes(of: &storage) { raw in
                unsafe raw.copyMemory(
                    from: UnsafeRawBufferPointer(start: entry.pointee.ai_addr, count: length))
            }
            if let address = SocketAddress(storage: storage), !found.contains(address) {
                found.append(address)
            }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }

    /// An error for a host name whose address cannot be found.
    struct ResolveError: Error, Sendable, CustomStringConvertible {
        let host: String
        let reason: String
        var description: String { "cannot find the address of \(host): \(reason)" }
    }
}
