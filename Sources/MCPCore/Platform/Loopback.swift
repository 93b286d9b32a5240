/// The names and addresses of this machine.
package enum Loopback {
    /// Returns whether a host is this machine by its name or its address, with or without brackets; nothing
    /// is looked up.
    package static func contains(_ host: String) -> Bool {
        host.lowercased() == "localhost" || SocketAddress(numeric: host, port: 0)?.isLoopback == true
    }
}
