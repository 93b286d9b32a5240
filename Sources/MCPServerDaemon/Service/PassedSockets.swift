import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The sockets that a service manager has passed to the process (socket activation, sd_listen_fds(3)).
///
/// They belong to the manager: their files are not removed, and they continue to accept clients while the
/// server is restarted.
struct PassedSockets: Sendable {
    struct Socket: Sendable {
        /// `FileDescriptorName=` of the socket unit.
        var name: String
        var address: ListenAddress
    }

    /// The number of the first socket.
    private static let first: Int32 = 3
    /// The most sockets that are taken.
    static let maxCount = 64

    private(set) var sockets: [Socket] = []

    init() {}

    /// - Throws: `ListenError` if something else than a listening socket was passed.
    init(_ environment: [String: String]) throws(ListenError) {
        guard environment["LISTEN_PID"] == String(getpid()),
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0
        else { return }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(
            separator: ":", omittingEmptySubsequences: false)
        for offset in 0 ..< min(count, Int32(Self.maxCount)) {
            let name = Int(offset) < names.count ? String(names[Int(offset)]) : ""
            sockets.append(Socket(name: name, address: try .inherited(Self.first + offset)))
        }
    }

    /// Returns what keeps the server from listening on an address; nil for a socket that was passed, whose
    /// file is the manager's.
    func obstacle(to address: ConfiguredAddress) -> String? {
        index(of: address) == nil ? address.obstacle : nil
    }

    /// Returns the addresses of the sockets, without those that are named already.
    func addresses(besides named: [ConfiguredAddress]) -> [ConfiguredAddress] {
        sockets.compactMap { try? ConfiguredAddress($0.address.description) }
            .filter { address in !named.contains(where: address.isTaken) }
    }

    /// Removes and returns the socket for an address; nil if none was passed for it.
    mutating func take(_ address: ConfiguredAddress) -> ListenAddress? {
        index(of: address).map { sockets.remove(at: $0).address }
    }

    /// A path may lead to the socket by way of a link, as `/var/run` does.
    private func index(of address: ConfiguredAddress) -> Int? {
        sockets.firstIndex { socket in
            (try? ConfiguredAddress(socket.address.description)).map(address.isTaken) ?? false
        }
    }

    /// Removes and returns the first socket of a name.
    mutating func take(named name: String) -> ListenAddress? {
        guard let index = sockets.firstIndex(where: { $0.name == name }) else { return nil }
        return sockets.remove(at: index).address
    }
}

extension ConfigContext {
    /// The sockets that this process was started with. What is wrong with them is said when the server takes
    /// them.
    var passedSockets: PassedSockets { (try? PassedSockets(environment)) ?? PassedSockets() }
}
