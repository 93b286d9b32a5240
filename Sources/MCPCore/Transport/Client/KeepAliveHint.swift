/// The time for which a free connection may be reused.
///
/// A call that coincides with the server closing the connection is lost if sending it again could carry it
/// out twice; it is better to avoid this situation. Servers that close early usually announce when: Node
/// sends `Keep-Alive: timeout=5`. So a connection is no longer used from one second before the announced time
/// on, and after 30 s if nothing is announced.
enum KeepAliveHint {
    /// The time after which free connections are closed, for servers that announce nothing.
    static let idleTimeout = Duration.seconds(30)
    /// The margin before the announced time in which a connection is no longer used.
    private static let margin = Duration.seconds(1)

    /// Returns the time for which the connection that carried this head may wait for its next request;
    /// zero: not at all.
    static func idleTime(_ head: ResponseHead, in bytes: ByteSlice) -> Duration {
        guard let announced = head.value(.keepAlive, in: bytes).flatMap(timeout) else { return idleTimeout }
        return max(.zero, min(idleTimeout, announced - margin))
    }

    /// Returns the parameter `timeout` in seconds (RFC 2068 section 19.7.1.1).
    static func timeout(_ value: ByteSlice) -> Duration? {
        for part in value.split(separator: UInt8(ascii: ",")) {
            let parameter = String(ByteSlice(Array(part))).lowercased().filter { $0 != " " && $0 != "\t" }
            guard parameter.hasPrefix("timeout=") else { continue }
            return Int32(parameter.dropFirst(8)).flatMap { $0 >= 0 ? .seconds(Int64($0)) : nil }
        }
        return nil
    }
}
