/// The address at which a server listens: a numeric address and port, or the path of a unix socket.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case tcp(host: String, port: UInt16)
        case unix(path: String, mode: UInt32, group: UInt32?)
    }

    let kind: Kind

    /// Returns the address for a numeric address and a port; port 0 selects a free one.
    public static func tcp(host: String = "127.0.0.1", port: UInt16) -> ListenAddress {
        ListenAddress(kind: .tcp(host: host, port: port))
    }

    /// Returns the address of a unix socket. `mode` is set before any client can connect; `group` is a
    /// numeric group id.
    public static func unix(path: String, mode: UInt32 = 0o600, group: UInt32? = nil) -> ListenAddress {
        ListenAddress(kind: .unix(path: path, mode: mode, group: group))
    }

    /// The port; nil for a unix socket.
    public var port: UInt16? {
        if case .tcp(_, let port) = kind { port } else { nil }
    }

    /// The address in its usual notation: `127.0.0.1:8808`, `unix:///run/mcp.sock`.
    public var description: String {
        switch kind {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path, _, _): "unix://\(path)"
        }
    }
}

/// The reason why a server cannot listen.
public struct ListenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A text that explains what happened and what to do.
    public let description: String

    init(_ text: String) { description = text }
}
