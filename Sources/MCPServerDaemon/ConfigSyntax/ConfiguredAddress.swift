import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// An address to listen on: `127.0.0.1:8808`, `[::1]:8808`, `unix:///run/mcp.sock?mode=0660&group=ops`.
///
/// Port 0 means one that the system chooses; it is possible only on the command line.
enum ConfiguredAddress: Sendable, Hashable {
    case tcp(host: String, port: Int)
    /// `group` is the numeric id of the named group.
    case unix(path: String, mode: UInt32, group: UInt32?)

    /// The reason why a text is not an address.
    struct Flaw: Error {
        var text: String
    }

    static let defaultPort = 8_808
    static let defaultMode: UInt32 = 0o600

    /// The longest path that fits into a socket address of this system.
    static let maxPathBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    init(_ text: String) throws(Flaw) {
        if let rest = text.dropping(prefix: "unix:") {
            self = try Self.parseUnix(rest)
        } else if text.hasPrefix("http:") || text.hasPrefix("https:") {
            throw Flaw(text: "is a URL; an address is HOST:PORT or unix:///PATH")
        } else {
            self = try Self.parseTCP(text)
        }
    }

    /// The address in the form that the library uses.
    var listenAddress: ListenAddress {
        switch self {
        case .tcp(let host, let port): .tcp(host: host, port: UInt16(clamping: port))
        case .unix(let path, let mode, let group): .unix(path: path, mode: mode, group: group)
        }
    }

    /// Returns the address with the port that the system chose, if it was left to choose one.
    func resolved(_ listening: ListenAddress) -> ConfiguredAddress {
        guard case .tcp(let host, 0) = self, let port = listening.port else { return self }
        return .tcp(host: host, port: Int(port))
    }

    /// Whether the address is on the loopback interface, the only network that a server without
    /// authentication may use.
    var isLoopback: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _): Loopback.contains(host)
        }
    }

    /// The address by which other machines name it in `Host`; nil for one of this machine, and for all of its
    /// addresses, which are known by their names only.
    var networkName: String? {
        guard case .tcp(let host, _) = self, !isLoopback, !isWildcard else { return nil }
        return host.contains(":") ? "[\(host)]" : host
    }

    /// Whether it stands for all addresses of the machine.
    var isWildcard: Bool {
        guard case .tcp(let host, _) = self else { return false }
        return host.utf8.allSatisfy { "0.:".utf8.contains($0) }
    }

    /// The reason why a server without authentication may not listen here, and what to do; `nil` if it may.
    var needsAuthentication: String? {
        if isLoopback { return nil }
        return "\(text) can be reached from the network, and this server has no authentication: "
            + "listen on 127.0.0.1 or a unix socket, and let a proxy with authentication forward to it, "
            + "or require tokens with \"auth\" in the configuration"
    }

    /// Whether the mode of a unix socket lets every user of this machine connect.
    var isOpenToEveryUser: Bool {
        guard case .unix(_, let mode, _) = self else { return false }
        return mode & 0o002 != 0
    }

    /// Returns whether it is impossible to listen on both addresses at the same time.
    func isTaken(by other: ConfiguredAddress) -> Bool {
        switch (self, other) {
        case (.tcp(let host, let port), .tcp(let other, let otherPort)):
            func numeric(_ host: String) -> String { host == "localhost" ? "127.0.0.1" : host }
            return numeric(host) == numeric(other) && port == otherPort && port != 0
        case (.unix(let path, _, _), .unix(let other, _, _)): return FileIdentity(path) == FileIdentity(other)
        default: return false
        }
    }

    /// A description of what is at the path and is left alone, so that nothing can listen there; `nil` if
    /// nothing is in the way.
    ///
    /// The start comes to the same conclusion.
    var obstacle: String? {
        guard case .unix(let path, _, _) = self else { return nil }
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        let what: String
        switch status.st_mode & S_IFMT {
        case S_IFSOCK:
            if status.st_uid == geteuid() || geteuid() == 0 { return nil }
            return Self.socketOfAnother(Accounts.userName(status.st_uid))
        case S_IFREG: what = "it is a regular file"
        case S_IFDIR: what = "it is a directory"
        case S_IFLNK: what = "it is a symbolic link"
        default: what = "it is not a socket"
        }
        return "\(what) and is left alone; choose another path or remove it yourself"
    }

    /// Says that a socket belongs to another user, who mostly runs the server that this one is about.
    static func socketOfAnother(_ owner: String) -> String {
        "it is a socket of the user \(owner), whose server may be running, and is left alone; "
            + "run this as that user (sudo -u \(owner)), or choose another path"
    }

    /// The address in the form that a client uses.
    var shown: String {
        switch self {
        case .tcp: "http://\(text)/mcp"
        case .unix: text
        }
    }

    /// The address as it is written in a configuration, without the rights of a socket.
    var text: String {
        switch self {
        case .tcp(let host, let port):
            "\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
        case .unix(let path, _, _): "unix://\(path)"
        }
    }

    private static func parseTCP(_ text: String) throws(Flaw) -> ConfiguredAddress {
        guard let colon = text.lastIndex(of: ":") else {
            if UInt16(text) != nil {
                throw Flaw(text: "has no host; the loopback address is 127.0.0.1:\(text)")
            }
            throw Flaw(text: "has no port; an address is HOST:PORT, for example 127.0.0.1:\(defaultPort)")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard host.utf8.contains(UInt8(ascii: ":")) else {
                throw Flaw(text: "has brackets around something that is not an IPv6 address")
            }
        } else if host.utf8.contains(UInt8(ascii: ":")) {
            throw Flaw(text: "needs brackets around its IPv6 address: [::1]:\(defaultPort)")
        }
        if host.isEmpty {
            throw Flaw(text: "has no host; the loopback address is 127.0.0.1:\(text[colon...].dropFirst())")
        }
        let digits = text[colon...].dropFirst()
        guard digits.utf8.allSatisfy(ASCII.isDigit), let port = Int(digits), (0 ... 65_535).contains(port)
        else {
            throw Flaw(text: "has no usable port: \"\(digits)\" is not a number from 0 to 65535")
        }
        return .tcp(host: host, port: port)
    }

    /// Creates the address of a socket that only this user may connect to.
    init(unixPath path: String) throws(Flaw) {
        try Self.check(unixPath: path)
        self = .unix(path: path, mode: Self.defaultMode, group: nil)
    }

    private static func check(unixPath path: String) throws(Flaw) {
        guard path.hasPrefix("/"), !path.hasSuffix("/") else {
            throw Flaw(text: "needs an absolute path: unix:///run/mcp.sock")
        }
        guard path.utf8.count <= maxPathBytes else {
            throw Flaw(
                text: "has a path of \(path.utf8.count) bytes; the maximum is \(maxPathBytes)")
        }
    }

    private static func parseUnix(_ rest: String) throws(Flaw) -> ConfiguredAddress {
        var text = rest[...]
        if text.hasPrefix("//") { text = text.dropFirst(2) }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts[0])
        try check(unixPath: path)
        var mode = defaultMode
        var group: UInt32?
        for option in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let pair = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            let value = pair.count > 1 ? pair[1] : ""
            switch pair[0] {
            case "mode":
                guard (3 ... 4).contains(value.utf8.count), let bits = UInt32(value, radix: 8),
                    bits & 0o777 == bits,
                    bits & 0o600 == 0o600
                else {
                    throw Flaw(text: "has no usable mode: \"\(value)\" is not octal like 0600 or 0660")
                }
                mode = bits
            case "group":
                guard let id = Accounts.groupID(named: value) else {
                    throw Flaw(text: "names a group \"\(value)\" that does not exist")
                }
                group = id
            default:
                let hint = Suggestion.hint(for: pair[0], among: ["mode", "group"])
                throw Flaw(text: "has an unknown option \"\(pair[0])\"\(hint); use mode or group")
            }
        }
        return .unix(path: path, mode: mode, group: group)
    }
}
