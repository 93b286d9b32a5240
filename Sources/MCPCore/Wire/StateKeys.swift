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

    // MARK: Sealing

    /// The bytes of a MAC that is also the start of a key stream.
    private static let sealBytes = 16

    /// Returns bytes that only a holder of the key can read or change: the MAC of the message, then the
    /// message combined with a key stream that depends on that MAC.
    ///
    /// The construction is SIV (RFC 5297) with HMAC-SHA-256 as its function: it needs no random number, and
    /// equal messages give equal bytes.
    /// - Parameter context: adds what the bytes belong to, in a form that the message cannot continue.
    func seal(_ message: [UInt8], _ context: (inout HMACSHA256) -> Void) -> [UInt8] {
        let mac = Self.mac(codes[0], Self.sealBytes, context, message)
        return mac + Self.combine(message, Self.stream(codes[0], mac))
    }

    /// Returns the message of sealed bytes; nil if no key has sealed them for this context.
    func open(_ sealed: [UInt8], _ context: (inout HMACSHA256) -> Void) -> [UInt8]? {
        guard sealed.count >= Self.sealBytes else { return nil }
        let mac = Array(sealed.prefix(Self.sealBytes))
        for code in codes {
            let message = Self.combine(sealed.dropFirst(Self.sealBytes), Self.stream(code, mac))
            if constantTimeEquals(mac, Self.mac(code, Self.sealBytes, context, message)) { return message }
        }
        return nil
    }

    private static func mac(
        _ start: HMACSHA256, _ count: Int, _ context: (inout HMACSHA256) -> Void, _ message: [UInt8]
    ) -> [UInt8] {
        mac(start, count) { code in
            context(&code)
            code.update(message)
        }
    }

    /// Returns the blocks of a key stream, each the code of its number.
    private static func stream(_ start: HMACSHA256, _ mac: [UInt8]) -> (UInt32) -> [UInt8] {
        { block in
            self.mac(start, 32) { code in
                code.update("key stream".utf8)
                code.update(mac)
                code.update([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: block >> $0) })
            }
        }
    }

    private static func combine(_ bytes: some Collection<UInt8>, _ stream: (UInt32) -> [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var block: [UInt8] = []
        for byte in bytes {
            let place = result.count % 32
            if place == 0 { block = stream(UInt32(clamping: result.count / 32)) }
            result.append(byte ^ block[place])
        }
        return result
    }

    private static func mac(
        _ start: HMACSHA256, _ count: Int, _ add: (inout HMACSHA256) -> Void
    ) -> [UInt8] {
        var code = start
        add(&code)
        return Array(code.finalize().bytes.prefix(count))
    }
}
