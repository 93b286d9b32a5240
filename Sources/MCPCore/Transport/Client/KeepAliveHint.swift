/// How long a free connection may be used again.
///
/// A call that meets the server's closing of the connection is lost where sending it again could do it twice;
/// it is better not to let it come to that. Servers that close early mostly say when: Node sends
/// `Keep-Alive: timeout=5`. So a connection is left alone from a second before the announced time on, and
/// after 30 s where nothing is announced.
enum KeepAliveHint {
    /// Free connections of servers that announce nothing are closed after this time.
    static let idleTimeout = Duration.seconds(30)
    /// How long before the announced time a connection is not used any more.
    private static let margin = Duration.seconds(1)

    /// The time for which the connection that brought this head may wait for its next request; zero: not at
    /// all.
    static func idleTime(_ head: ResponseHead, in bytes: ByteSlice) -> Duration {
        var time = idleTimeout
        head.forEachField(in: bytes) { name, value in
            guard name.count == 10, ASCII.equalsIgnoringCase(name, "keep-alive".utf8),
                let announced = timeout(value)
            else { return }
            time = max(.zero, min(time, announced - margin))
        }
        return time
    }

    /// The parameter `timeout` in seconds (RFC 2068 section 19.7.1.1).
    static func timeout(_ value: ByteSlice) -> Duration? {
        for part in value.split(separator: UInt8(ascii: ",")) {
            let parameter = String(ByteSlice(Array(part))).lowercased().filter { $0 != " " && $0 != "\t" }
            guard parameter.hasPrefix("timeout=") else { continue }
            return Int32(parameter.dropFirst(8)).flatMap { $0 >= 0 ? .seconds(Int64($0)) : nil }
        }
        return nil
    }
}
