import MCPCore

/// The address of the server that a proxy forwards to: one at which a proxy on this host is trusted, if there
/// is one, and a unix socket before others.
struct ProxiedPlace: Sendable, Hashable {
    /// The address: `127.0.0.1:8808` or `unix:/PATH`.
    let text: String
    /// The warning that the server does not trust this proxy; nil if it does, or if it trusts no proxy.
    let warning: String?

    init(of configuration: Configuration) {
        let web = configuration.web
        let all = configuration.listen ?? [.defaultPlace]
        let ordered = all.filter { $0.proxySource == "unix" } + all.filter { $0.proxySource != "unix" }
        let trusted = ordered.first { web.proxies.trusts($0.proxySource) }
        // Proxies on other hosts are trusted; they reach an address of the network alone.
        let others = web.proxyNames.isEmpty ? nil : ordered.first { !$0.isLoopback }
        let chosen = trusted ?? others ?? ordered.first ?? .defaultPlace
        text = chosen.proxyTarget
        warning =
            web.proxyNames.isEmpty || trusted != nil
            ? nil
            : "warning: at no address of \"listen\" does \"trustedProxies\" trust a proxy on this host: one "
                + "that connects to \(chosen.proxyTarget) is \"\(chosen.proxySource)\" there"
    }
}

extension ConfiguredAddress {
    /// Where a server listens beside its usual socket.
    static let defaultPlace = ConfiguredAddress.tcp(host: "127.0.0.1", port: defaultPort)

    /// The host that a program on this host connects to.
    private static func reached(_ host: String) -> String {
        switch host {
        case "0.0.0.0", "localhost": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }

    /// Where a proxy on this host connects to.
    fileprivate var proxyTarget: String {
        switch self {
        case .unix(let path, _, _): "unix:\(path)"
        case .tcp(let host, let port): ConfiguredAddress.tcp(host: Self.reached(host), port: port).text
        }
    }

    /// Where a proxy on this host comes from then, as `trustedProxies` names it: the system chooses 127.0.0.1
    /// for each address of 127.0.0.0/8, and otherwise the address itself.
    fileprivate var proxySource: String {
        guard case .tcp(let host, _) = self else { return "unix" }
        let reached = Self.reached(host)
        return reached.hasPrefix("127.") ? "127.0.0.1" : reached
    }
}
