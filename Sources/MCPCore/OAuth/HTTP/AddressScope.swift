/// The part of the network in which an address is valid.
enum AddressScope: Int, Sendable, Comparable {
    /// This machine.
    case loopback
    /// Networks that are not part of the internet (RFC 1918, RFC 4193, RFC 6598).
    case local
    /// The internet.
    case global
    /// Addresses that no authorization server has: link-local ones, where clouds keep the credentials of
    /// machines, multicast, unspecified, reserved and documentation.
    case forbidden

    static func < (a: AddressScope, b: AddressScope) -> Bool { a.rawValue < b.rawValue }

    /// The scope of an address; an IPv4 address within an IPv6 one counts as itself.
    init(_ address: SocketAddress) {
        switch address.family {
        case .unix: self = .loopback
        case .ipv4: self = Self.scope(four: address.hostBytes)
        case .ipv6: self = Self.scope(six: address.hostBytes)
        }
    }

    /// IANA IPv4 Special-Purpose Address Registry.
    private static func scope(four bytes: ArraySlice<UInt8>) -> AddressScope {
        let (a, b, c) = (bytes[bytes.startIndex], bytes[bytes.startIndex + 1], bytes[bytes.startIndex + 2])
        switch (a, b, c) {
        case (127, _, _): return .loopback
        case (10, _, _), (172, 16 ... 31, _), (192, 168, _), (100, 64 ... 127, _), (198, 18 ... 19, _):
            return .local
        case (0, _, _), (169, 254, _), (224 ... 255, _, _): return .forbidden
        case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113): return .forbidden
        default: return .global
        }
    }

    /// IANA IPv6 Special-Purpose Address Registry.
    private static func scope(six slice: ArraySlice<UInt8>) -> AddressScope {
        let bytes = Array(slice)
        let zeros = bytes.prefix { $0 == 0 }.count
        if zeros == 16 { return .forbidden }
        if zeros == 15, bytes[15] == 1 { return .loopback }
        // IPv4-compatible and IPv4-mapped (RFC 4291, section 2.5.5).
        if zeros >= 12 || bytes.starts(with: mapped) { return scope(four: bytes[12...]) }
        // NAT64 (RFC 6052), its local prefix (RFC 8215), IPv4-translated (RFC 2765) and 6to4 (RFC 3056).
        if bytes.starts(with: nat64) || bytes.starts(with: translated) { return scope(four: bytes[12...]) }
        if bytes.starts(with: localNAT64) { return .forbidden }
        if bytes.starts(with: [0x20, 0x02]) { return scope(four: bytes[2 ..< 6]) }
        if bytes.starts(with: metadataService) { return .forbidden }
        switch (bytes[0], bytes[1]) {
        case (0xFC ... 0xFD, _): return .local
        // Teredo, other protocol assignments and documentation.
        case (0x20, 0x01) where bytes[2] < 0x02 || (bytes[2] == 0x0D && bytes[3] == 0xB8): return .forbidden
        case (0x3F, 0xFF): return .forbidden
        case (0x20 ... 0x3F, _): return .global
        default: return .forbidden
        }
    }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    private static let translated: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0]
    private static let nat64: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
    private static let localNAT64: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 1]
    /// fd00:ec2::254, where one cloud keeps the credentials of machines.
    private static let metadataService: [UInt8] = [
        0xFD, 0, 0x0E, 0xC2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x54,
    ]
}

/// The addresses that requests of authorization may reach (AUTH-48).
///
/// URLs in metadata come from a server, which could otherwise make a client send requests to the client's own
/// network. So the address of each connection is judged, not the name.
struct AddressRule: Sendable {
    /// The scope of the server that started it.
    let server: AddressScope
    /// Hosts that may be reached at any address and over plain http, in lower case.
    let allowedHosts: Set<String>

    /// Returns the addresses of a host that may be connected to; throws if there are some, but none of these.
    func admit(_ found: [SocketAddress], of url: WebURL) throws(TLSError) -> [SocketAddress] {
        let allowed = found.filter { refusal(of: $0, host: url.host, isSecure: url.isSecure) == nil }
        guard allowed.isEmpty, let first = found.first,
            let reason = refusal(of: first, host: url.host, isSecure: url.isSecure)
        else { return allowed }
        throw TLSError(
            .connection, "\(url.host) is not reached for authorization: \(reason)",
            hint: "MCP_AUTH_ALLOW=\(url.host) allows it")
    }

    /// Returns the reason why a connection must not be made; nil if it may.
    func refusal(of address: SocketAddress, host: String, isSecure: Bool) -> String? {
        if allowedHosts.contains(host) { return nil }
        let scope = AddressScope(address)
        if scope == .forbidden { return "\(address.host) is not an address of an authorization server" }
        if !isSecure, scope != .loopback { return "\(address.host) must be reached over https" }
        if scope < server {
            let place = scope == .loopback ? "this machine" : "a local network"
            return "\(address.host) belongs to \(place), and the server does not"
        }
        return nil
    }
}
