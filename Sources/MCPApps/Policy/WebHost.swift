/// The host of an address as browsers read it (URL Standard, "Host parsing"): percent-encoded characters are
/// decoded, and a host whose last part is a number is an IPv4 address, in whatever form it is written.
struct WebHost {
    /// The name or the address as a browser shows it.
    let name: String
    /// The bytes of an IPv4 address; nil for a name and for IPv6.
    private let address: [UInt8]?

    /// Returns nil for a host that browsers refuse.
    init?(_ written: String) {
        if written.hasPrefix("[") {
            let colons = written.utf8.count { $0 == UInt8(ascii: ":") }
            guard written.hasSuffix("]"), colons >= 2, written.utf8.allSatisfy({ Self.isOfIPv6($0) }) else {
                return nil
            }
            name = written
            address = Self.mapped(written)
            return
        }
        guard let decoded = Self.decoded(written), !decoded.isEmpty,
            decoded.unicodeScalars.allSatisfy({ !Self.isForbidden($0) })
        else { return nil }
        let parts = decoded.split(separator: ".", omittingEmptySubsequences: false)
        let labels = parts.last == "" ? Array(parts.dropLast()) : parts
        guard let last = labels.last, Self.isNumber(last) else {
            name = decoded
            address = nil
            return
        }
        guard let bytes = Self.numeric(labels) else { return nil }
        name = bytes.map { "\($0)" }.joined(separator: ".")
        address = bytes
    }

    /// Where the address leads, if that is not somewhere in the public network.
    var place: String? {
        let plain = name.hasSuffix(".") ? String(name.dropLast()) : name
        if plain == "localhost" || plain.hasSuffix(".localhost") || plain == "[::1]" || plain == "[::]" {
            return "this machine"
        }
        guard let address else {
            let isOwn = ["[fe8", "[fe9", "[fea", "[feb", "[fc", "[fd"].contains { plain.hasPrefix($0) }
            return isOwn ? "a machine in your own network" : nil
        }
        switch (address[0], address[1]) {
        case (127, _), (0, _): return "this machine"
        case (10, _), (172, 16 ... 31), (192, 168), (169, 254): return "a machine in your own network"
        default: return nil
        }
    }

    // MARK: Names

    /// Returns the text without percent-encoding, in lowercase, with the full-width forms of ASCII as ASCII;
    /// nil if it is not UTF-8.
    private static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let hex = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), hex.utf8.count == 2, hex.utf8.allSatisfy(isHex),
                let value = UInt8(hex, radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { return nil }
        var result = String.UnicodeScalarView()
        for scalar in decoded.unicodeScalars {
            switch scalar.value {
            case 0xFF01 ... 0xFF5E: result.append(Unicode.Scalar(UInt8(scalar.value - 0xFEE0)))
            case 0x3002, 0xFF61: result.append(".")
            default: result.append(scalar)
            }
        }
        return String(result).lowercased()
    }

    /// The characters that no host contains.
    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20 || scalar.value == 0x7F || "#/:<>?@[\\]^|%".unicodeScalars.contains(scalar)
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30 ... 0x39).contains(byte) || (0x61 ... 0x66).contains(byte | 0x20)
    }

    // MARK: Numbers

    private static func isNumber(_ label: Substring) -> Bool {
        !label.isEmpty && label.utf8.allSatisfy { (0x30 ... 0x39).contains($0) } || number(label) != nil
    }

    /// Returns a decimal, octal (`0…`) or hexadecimal (`0x…`) number; one that is larger than an address is
    /// `UInt64.max`.
    private static func number(_ label: Substring) -> UInt64? {
        if label.isEmpty { return nil }
        var (digits, radix) = (label.utf8[...], UInt64(10))
        if label.hasPrefix("0x") {
            (digits, radix) = (digits.dropFirst(2), 16)
        } else if label.utf8.count > 1, label.hasPrefix("0") {
            (digits, radix) = (digits.dropFirst(), 8)
        }
        var value: UInt64 = 0
        for byte in digits {
            guard isHex(byte) else { return nil }
            let digit = UInt64(byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57)
            guard digit < radix else { return nil }
            value = value > UInt64(UInt32.max) ? .max : value * radix + digit
        }
        return value
    }

    /// Returns the bytes of an IPv4 address of one to four numbers; the last one fills the rest.
    private static func numeric(_ labels: [Substring]) -> [UInt8]? {
        let numbers = labels.compactMap(number)
        guard labels.count <= 4, numbers.count == labels.count, let last = numbers.last,
            numbers.dropLast().allSatisfy({ $0 <= 255 })
        else { return nil }
        let free = 5 - numbers.count
        guard last < UInt64(1) << UInt64(8 * free) else { return nil }
        let tail = (0 ..< free).reversed().map { UInt8(truncatingIfNeeded: last >> UInt64(8 * $0)) }
        return numbers.dropLast().map { UInt8(truncatingIfNeeded: $0) } + tail
    }

    // MARK: IPv6

    private static func isOfIPv6(_ byte: UInt8) -> Bool { isHex(byte) || "[]:.".utf8.contains(byte) }

    /// Returns the IPv4 address in an address such as `[::ffff:127.0.0.1]` or `[::ffff:7f00:1]`.
    private static func mapped(_ written: String) -> [UInt8]? {
        let text = written.dropFirst().dropLast().lowercased()
        guard text.hasPrefix("::ffff:") else { return nil }
        let rest = text.dropFirst(7)
        if rest.contains(".") { return numeric(rest.split(separator: ".", omittingEmptySubsequences: false)) }
        let groups = rest.split(separator: ":").compactMap { UInt16($0, radix: 16) }
        guard groups.count == 2 else { return nil }
        return groups.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }
}
