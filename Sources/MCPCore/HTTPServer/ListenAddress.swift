#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The address at which a server listens: a numeric address and port, or the path of a unix socket.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case tcp(host: String, port: UInt16)
        case unix(path: String, mode: UInt32, group: UInt32?)
        case inherited(descriptor: Int32, shown: String, port: UInt16?)
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

    /// Returns a socket that already listens, such as one that a service manager has passed to the process
    /// (socket activation). The server uses a duplicate: the descriptor stays open, and the file of a unix
    /// socket is not removed.
    ///
    /// - Throws: `ListenError` if it is not a listening stream socket of IPv4, IPv6 or a path.
    public static func inherited(_ descriptor: Int32) throws(ListenError) -> ListenAddress {
        do throws(IOError) {
            guard try Syscalls.option(descriptor, SOL_SOCKET, SO_ACCEPTCONN) != 0,
                let address = try Syscalls.localAddress(descriptor)
            else { throw IOError(errno: EINVAL, function: "getsockopt") }
            let shown = address.unixPath.map { "unix://\($0)" } ?? address.description
            return ListenAddress(
                kind: .inherited(
                    descriptor: descriptor, shown: shown,
                    port: address.family == .unix ? nil : address.port))
        } catch {
            throw ListenError("descriptor \(descriptor) is not a listening socket: \(error.reason)")
        }
    }

    /// The port; nil for a unix socket.
    public var port: UInt16? {
        switch kind {
        case .tcp(_, let port): port
        case .unix: nil
        case .inherited(_, _, let port): port
        }
    }

    /// The address in its usual notation: `127.0.0.1:8808`, `unix:///run/mcp.sock`.
    public var description: String {
        switch kind {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path, _, _): "unix://\(path)"
        case .inherited(_, let shown, _): shown
        }
    }
}

/// The reason why a server cannot listen.
public struct ListenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A text that explains what happened and what to do.
    public let description: String

    init(_ text: String) { description = text }
}

extension ListenError {
    /// The refusal of an address that other machines can reach.
    static func needsLoopback(_ address: String) -> ListenError {
        ListenError(
            "\(address) can be reached from other machines, and this server authenticates nobody; "
                + "listen on 127.0.0.1 and let a proxy with authentication forward to it")
    }
}
