/// The keys that sign what clients carry for a server: cursors, session ids and `requestState`.
///
/// The first key signs, and every key verifies: while a key is being replaced, instances with the old one and
/// instances with the new one accept what the other has signed.
struct StateKeys: Sendable {
    /// The codes of the keys before any message.
    private let codes: [HMACSHA256]

    /// - Parameter others: keys that only verify.
    init(_ key: [UInt8], others: [[UInt8]] = []) {
        codes = ([key] + others).map { HMACSHA256(key: $0) }
    }

    /// Returns the first `count` bytes of the code of a message.
    ///
    /// - Parameter add: adds the message to the code.
    func sign(_ count: Int, _ add: (inout HMACSHA256) -> Void) -> [UInt8] {
        Self.mac(codes[0], count, add)
    }

    /// Returns whether `mac`, which must have `count` bytes, is the code of a message under any of the keys.
    func verify(_ mac: some Collection<UInt8>, _ count: Int, _ add: (inout HMACSHA256) -> Void) -> Bool {
        guard count > 0, mac.count == count else { return false }
        return codes.contains { constantTimeEquals(mac, Self.mac($0, count, add)) }
    }

    private static func mac(
        _ start: HMACSHA256, _ count: Int, _ add: (inout HMACSHA256) -> Void
    ) -> [UInt8] {
        var code = start
        add(&code)
        return Array(code.finalize().bytes.prefix(count))
    }
}
