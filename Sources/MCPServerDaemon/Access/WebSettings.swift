import MCPCore

/// The settings for requests that come through a proxy or from web pages.
struct WebSettings: Sendable, Hashable {
    /// The names that `Host` may have beside those of this machine.
    var hosts: [String] = []
    /// The web pages that may call the server.
    var origins: [String] = []
    var proxies = ProxyPolicy()
    /// The proxies by name: addresses, networks and `unix`.
    var proxyNames: [String] = []

    /// Reads `hosts`, `origins` and `trustedProxies` of the configuration.
    init(_ reader: inout ObjectReader) {
        hosts = reader.strings("hosts") ?? []
        for host in hosts where !Self.isHost(host) {
            reader.context.diagnostics.error(
                "hosts: \"\(host)\" is not the name of a host; write it without scheme and port, such as "
                    + "\"mcp.example.com\" or \"*.example.com\"", at: reader.place(of: "hosts"))
        }
        origins = reader.origins("origins")
        guard let proxies = reader.strings("trustedProxies") else { return }
        if let policy = ProxyPolicy(proxies) {
            self.proxies = policy
            proxyNames = proxies
        } else {
            let wrong = proxies.first { ProxyPolicy([$0]) == nil } ?? ""
            reader.context.diagnostics.error(
                "trustedProxies: \"\(wrong)\" is not an address; use for example \"127.0.0.1\", "
                    + "\"10.0.0.0/8\" or \"unix\"", at: reader.place(of: "trustedProxies"))
        }
    }

    init() {}

    private static func isHost(_ text: String) -> Bool {
        let name = text.dropping(prefix: "*.") ?? text
        if name.hasPrefix("["), name.hasSuffix("]") { return name.utf8.count > 2 }
        // A final dot, which `Host` may have, would never be equal.
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { ObjectReader.isNameCharacter($0) }
        }
    }

    /// The policy of the listener; `nil` for that of the library, which allows the names of this machine on
    /// TCP and any on unix sockets.
    ///
    /// - Parameters:
    ///   - host: the host of `auth.resource`.
    ///   - addresses: where the server listens: no page of another name has one of them in `Host`.
    func policy(with host: String?, at addresses: [ConfiguredAddress] = []) -> AccessPolicy? {
        let more = hosts + (host.map { [$0] } ?? []) + addresses.compactMap(\.networkName)
        if more.isEmpty, origins.isEmpty { return nil }
        return AccessPolicy(
            hosts: .names(["127.0.0.1", "localhost", "[::1]"] + more), origins: OriginPolicy(allowed: origins)
        )
    }
}
