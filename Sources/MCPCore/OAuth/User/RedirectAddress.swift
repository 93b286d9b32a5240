/// The address of a redirect listener on this machine (RFC 8252, section 7.3).
struct RedirectAddress: Sendable, Hashable {
    /// The host as in the redirect URI.
    let host: CallbackHost
    /// The port; 0 for any that is free.
    var port: UInt16
    /// The path, which begins with a slash.
    let path: String

    init(host: CallbackHost, port: UInt16, path: String = "/callback") {
        self.host = host
        self.port = port
        self.path = path
    }

    /// Creates the address that a registered redirect URI names; nil if it is not one on this machine, or not
    /// the one that is wanted: with another port than 0 or another host than `ipv4`.
    init?(registered uri: String, wanted: RedirectAddress) {
        let parts = SchemaURI(uri)
        guard parts.scheme?.lowercased() == "http", parts.query == nil, parts.fragment == nil,
            let authority = parts.authority, parts.path.hasPrefix("/")
        else { return nil }
        let pieces = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard pieces.count <= 2, let host = CallbackHost(rawValue: String(pieces[0]).lowercased()) else {
            return nil
        }
        guard wanted.host == .ipv4 || wanted.host == host else { return nil }
        guard pieces.count == 2 else {
            self.init(host: host, port: wanted.port, path: parts.path)
            return
        }
        guard let port = UInt16(pieces[1]), port > 0, wanted.port == 0 || wanted.port == port else {
            return nil
        }
        self.init(host: host, port: port, path: parts.path)
    }

    /// The value of `Host` in requests.
    var authority: String { "\(host.rawValue):\(port)" }

    var origin: String { "http://\(authority)" }

    var uri: String { origin + path }
}

/// The host in a redirect URI on this machine.
public enum CallbackHost: String, Sendable, CaseIterable {
    /// The address 127.0.0.1.
    case ipv4 = "127.0.0.1"
    /// The name localhost: the listener is at 127.0.0.1 and at ::1.
    case localhost
}
