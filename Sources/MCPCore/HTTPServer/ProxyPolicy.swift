/// The proxies whose word about their clients is taken: `X-Forwarded-For`, or else `Forwarded` (RFC 7239).
///
/// The address of a client is written into logs, and limits how many wrong tokens it may present. It never
/// authenticates anyone.
public struct ProxyPolicy: Sendable, Hashable {
    /// A range of addresses.
    private struct Network: Sendable, Hashable {
        let bytes: [UInt8]
        /// The number of leading bits that count.
        let bits: Int

        func contains(_ address: [UInt8]) -> Bool {
            guard address.count == bytes.count else { return false }
            for (place, byte) in address.enumerated() {
                let left = bits - 8 * place
                if left <= 0 { return true }
                let mask: UInt8 = left >= 8 ? 0xFF : ~(0xFF >> UInt8(left))
                if (byte ^ bytes[place]) & mask != 0 { return false }
            }
            return true
        }
    }

    private var networks: [Network] = []
    private var includesUnix = false

    /// Creates a policy that trusts no proxy.
    public init() {}

    /// Creates a policy that trusts these proxies: addresses such as `127.0.0.1` and `::1`, networks such as
    /// `10.0.0.0/8`, and `unix` for the clients of unix sockets.
    ///
    /// Returns nil if one of them is none of these.
    public init?(_ proxies: [String]) {
        for text in proxies {
            if text == "unix" {
                includesUnix = true
                continue
            }
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let address = SocketAddress(numeric: String(parts[0]), port: 0) else { return nil }
            let all = address.hostBytes.count * 8
            var bits = all
            if parts.count == 2 {
                guard parts[1].utf8.count <= 3, parts[1].utf8.allSatisfy(ASCII.isDigit),
                    let number = Int(parts[1]), number <= all
                else { return nil }
                bits = number
            }
            networks.append(Network(bytes: Array(address.hostBytes), bits: bits))
        }
    }

    /// Returns whether the policy trusts a proxy that connects from a numeric address, such as `127.0.0.1` or
    /// `::1`, or, for `unix`, to a unix socket. Returns false for any other text.
    public func trusts(_ proxy: String) -> Bool {
        if proxy == "unix" { return includesUnix }
        return SocketAddress(numeric: proxy, port: 0).map { trusts($0) } ?? false
    }

    /// Whether any proxy is trusted.
    var isActive: Bool { includesUnix || !networks.isEmpty }

    private func trusts(_ address: SocketAddress) -> Bool {
        guard address.family != .unix else { return includesUnix }
        let bytes = address.unmappedBytes
        return networks.contains { $0.contains(bytes) }
    }

    /// Returns the address of the client of a request: that of the connection, or the last one that a trusted
    /// proxy names and that is not one of the proxies. Nil for a unix socket whose client is not known.
    func client(of head: RequestHead, in bytes: ByteSlice, from connection: SocketAddress) -> SocketAddress? {
        let known = connection.family == .unix ? nil : connection
        guard isActive, trusts(connection) else { return known }
        let listed = head.values(named: "x-forwarded-for", in: bytes)
        let standard = head.values(named: "forwarded", in: bytes)
        // A proxy sets one of them. With both, one is from the client.
        guard listed.isEmpty || standard.isEmpty else { return known }
        var client = known
        for element in Self.elements(listed + standard).reversed() {
            let text = listed.isEmpty ? Self.forwardedClient(element) : element
            guard let address = text.flatMap(Self.address) else { return client }
            client = address
            if !trusts(address) { return client }
        }
        return client
    }

    /// Returns the elements of a list in several fields.
    private static func elements(_ fields: [ByteSlice]) -> [String] {
        fields.flatMap { String($0).split(separator: ",") }.map { String($0).trimmed }
    }

    /// Returns the value of `for` in an element of `Forwarded`.
    private static func forwardedClient(_ element: String) -> String? {
        for pair in element.split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }).lowercased() == "for" else {
                continue
            }
            return String(parts[1].filter { $0 != "\"" })
        }
        return nil
    }

    /// Returns an address that may have a port: `192.0.2.1:80`, `[2001:db8::1]:80`, `2001:db8::1`.
    private static func address(_ text: String) -> SocketAddress? {
        guard text.utf8.count <= 64 else { return nil }
        if let address = SocketAddress(numeric: text, port: 0) { return address }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return SocketAddress(numeric: String(text[...end]), port: 0)
        }
        return SocketAddress(numeric: String(text.prefix { $0 != ":" }), port: 0)
    }
}

extension SocketAddress {
    /// The bytes of the address, those of IPv4 also for an IPv4 address in the form of IPv6.
    fileprivate var unmappedBytes: [UInt8] {
        let bytes = Array(hostBytes)
        let isMapped =
            bytes.count == 16 && bytes[..<12].elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        return isMapped ? Array(bytes[12...]) : bytes
    }

    /// The address that a limit on clients counts by: with IPv6 the network, because one subscriber has a
    /// whole one.
    var network: [UInt8] {
        let bytes = unmappedBytes
        guard bytes.count == 16, !bytes.prefix(8).allSatisfy({ $0 == 0 }) else { return bytes }
        return Array(bytes.prefix(8))
    }
}
