import MCPCore

/// The host of an address as browsers read it (URL Standard, "Host parsing"): percent-encoded characters are
/// decoded, and a host whose last part is a number is an IPv4 address, in whatever form it is written.
struct WebHost {
    /// The name or the address as a browser shows it; that of IPv6 as it is written.
    let name: String
    /// The bytes of an IPv4 address, also of one within an IPv6 address; nil for a name.
    private let address: [UInt8]?
    /// The groups of an IPv6 address; nil for a name and for IPv4.
    private let groups: [UInt16]?

    /// Returns nil for a host that browsers refuse, and for a name with characters that browsers read as
    /// others: `ⓛocalhost` is `localhost` for them.
    init?(_ written: String) {
        if written.utf8.first == UInt8(ascii: "[") {
            guard written.utf8.last == UInt8(ascii: "]"), written.utf8.allSatisfy({ Self.isOfIPv6($0) }),
                let groups = Self.groups(written.dropFirst().dropLast())
            else { return nil }
            name = written
            self.groups = groups
            address = Self.embedded(groups)
            return
        }
        groups = nil
        guard let decoded = Self.decoded(written), !decoded.isEmpty,
            decoded.unicodeScalars.allSatisfy({ !Self.isForbidden($0) && !Self.isReadAsOther($0) })
        else { return nil }
        let parts = Self.labels(decoded)
        // A mark belongs to a letter before it, and no label has one before its first.
        guard parts.allSatisfy({ $0.unicodeScalars.first.map(Self.isMark) != true }) else { return nil }
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

    /// Whether it is an address, and no name.
    var isNumeric: Bool { address != nil || groups != nil }

    /// Where the address leads, if that is not somewhere in the public network.
    var place: String? {
        if groups?.dropLast().allSatisfy({ $0 == 0 }) == true, groups?.last ?? 0 <= 1 {
            return "this machine"
        }
        switch (address?.first ?? 1, address?.dropFirst().first ?? 1) {
        case (127, _), (0, _): return "this machine"
        case (10, _), (172, 16 ... 31), (192, 168), (169, 254), (100, 64 ... 127):
            return "a machine in your own network"
        default: break
        }
        if let first = groups?.first {
            let isOwn = first & 0xFE00 == 0xFC00 || first & 0xFF80 == 0xFE80
            return isOwn ? "a machine in your own network" : nil
        }
        if address != nil { return nil }
        let labels = Self.labels(name).filter { !$0.isEmpty }
        if labels.last == "localhost" { return "this machine" }
        let isOwn =
            labels.count == 1 || labels.last.map { Self.ownSuffixes.contains(String($0)) } == true
            || labels.suffix(2) == ["home", "arpa"]
        return isOwn ? "a machine in your own network" : nil
    }

    /// The last parts of names that only networks of one's own have.
    private static let ownSuffixes = [
        "local", "internal", "lan", "home", "localdomain", "intranet", "private", "corp",
    ]

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

    /// The letters, marks and digits beyond ASCII that browsers read as ASCII (UTS 46, "mapped").
    private static let mapped: [ClosedRange<UInt32>] = [
        0xAA ... 0xAA, 0xBA ... 0xBA, 0x132 ... 0x133, 0x13F ... 0x140, 0x149 ... 0x149, 0x17F ... 0x17F,
        0x1C4 ... 0x1CC, 0x1F1 ... 0x1F3, 0x2B0 ... 0x2B8, 0x2E0 ... 0x2E4, 0x37A ... 0x37A,
        0x1D2C ... 0x1DBF, 0x1E9A ... 0x1E9A, 0x2071 ... 0x209C, 0x2100 ... 0x214F, 0x2C7C ... 0x2C7D,
        0xA7F2 ... 0xA7F4, 0xFB00 ... 0xFB06, 0xFC5E ... 0xFC63, 0xFDFA ... 0xFDFB, 0xFE70 ... 0xFE7F,
        0x10780 ... 0x107BA, 0x1D400 ... 0x1D7FF, 0x1FBF0 ... 0x1FBF9,
    ]

    /// Returns whether a browser reads the character as another one, or as none: no name needs it.
    private static func isReadAsOther(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .nonspacingMark, .spacingMark, .decimalNumber:
            return scalar.properties.isDefaultIgnorableCodePoint
                || mapped.contains { $0.contains(scalar.value) }
        default: return true
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    private static func labels(_ name: String) -> [Substring] {
        name.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false).map { Substring($0) }
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

    /// Returns the eight groups of an address, without brackets; nil if it is not one.
    private static func groups(_ text: Substring) -> [UInt16]? {
        guard let gap = text.firstRange(of: "::") else {
            let all = words(text, endsInIPv4: true)
            return all?.count == 8 ? all : nil
        }
        guard let head = words(text[..<gap.lowerBound], endsInIPv4: false),
            let tail = words(text[gap.upperBound...], endsInIPv4: true), head.count + tail.count < 8
        else { return nil }
        return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    private static func words(_ text: Substring, endsInIPv4: Bool) -> [UInt16]? {
        if text.isEmpty { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var words: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if endsInIPv4, index == parts.count - 1, part.contains(".") {
                guard let bytes = dotted(part) else { return nil }
                words += [UInt16(bytes[0]) << 8 | UInt16(bytes[1]), UInt16(bytes[2]) << 8 | UInt16(bytes[3])]
            } else {
                guard (1 ... 4).contains(part.utf8.count), let word = UInt16(part, radix: 16) else {
                    return nil
                }
                words.append(word)
            }
        }
        return words
    }

    /// Returns the four bytes of `127.0.0.1`, without leading zeros; nil for anything else.
    private static func dotted(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { UInt8($0) }
        guard parts.count == 4, bytes.count == 4, zip(parts, bytes).allSatisfy({ $0 == "\($1)" }) else {
            return nil
        }
        return bytes
    }

    /// Returns the IPv4 address in an address such as `::ffff:127.0.0.1`, `::127.0.0.1`,
    /// `::ffff:0:127.0.0.1` (RFC 2765), `64:ff9b::127.0.0.1` (RFC 6052), `64:ff9b:1::127.0.0.1` (RFC 8215) or
    /// `2002:7f00:1::` (RFC 3056); nil if there is none.
    private static func embedded(_ groups: [UInt16]) -> [UInt8]? {
        let zeros = [UInt16](repeating: 0, count: 4)
        let isAtTheEnd =
            switch Array(groups.prefix(6)) {
            case zeros + [0, 0xFFFF], zeros + [0xFFFF, 0], [0x64, 0xFF9B] + zeros: true
            case zeros + [0, 0]: groups[6] != 0
            default: groups.starts(with: [0x64, 0xFF9B, 1, 0, 0, 0])
            }
        let part = isAtTheEnd ? groups.suffix(2) : groups[0] == 0x2002 ? groups[1 ... 2] : []
        return part.isEmpty ? nil : part.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }
}
