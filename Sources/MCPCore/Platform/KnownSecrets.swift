import Synchronization

/// The secrets that a client has sent or received, and the removal of them from texts that leave it.
///
/// A secret is recognized as it is, percent-encoded (also more than once), with the escapes of JSON, Python
/// and JavaScript, and with the references of HTML, by number and the five of XML by name; also if only its
/// beginning is there, because a text was cut off: who cuts a text puts `…` there.
package final class KnownSecrets: Sendable {
    /// The number of secrets that are kept; the ones that were not used for the longest time are dropped.
    package static let maxCount = 64
    /// The number of bytes of a secret that are kept.
    package static let maxBytes = 4 << 10
    /// Shorter secrets are not masked: they would occur in any text.
    package static let minBytes = 6
    /// The number of bytes of a longer secret that are masked even without the rest of it.
    private static let minPart = 16
    /// The number of bytes that are masked in front of `…`.
    private static let minCutPart = 4
    private static let ellipsis = Array("…".utf8)

    /// What stands for a secret.
    package static let mask = "[redacted]"

    /// The rules of masking.
    package struct Rules: Sendable {
        /// What stands for a secret.
        package var mask = KnownSecrets.mask
        /// The number of secrets that are kept.
        package var maxCount = KnownSecrets.maxCount
        /// The bytes of the shortest secret that is masked.
        package var minBytes = KnownSecrets.minBytes
        /// Whether the beginning of a secret is masked without its rest.
        package var masksParts = true

        package init() {}
    }

    private struct State {
        var secrets: [[UInt8]] = []
        var known: Set<[UInt8]> = []
        /// The places of the secrets, by their first byte; nil after a change.
        var firsts: [[Int]]?
    }

    private let state = Mutex(State())
    private let rules: Rules

    package init(_ secrets: [String] = [], rules: Rules = Rules()) {
        self.rules = rules
        for secret in secrets { note(secret) }
    }

    /// Whether there are no secrets.
    package var isEmpty: Bool { state.withLock { $0.secrets.isEmpty } }

    /// Remembers a secret.
    package func note(_ secret: String) {
        let bytes = Array(secret.utf8.prefix(Self.maxBytes))
        guard bytes.count >= max(1, rules.minBytes) else { return }
        state.withLock { state in
            if state.secrets.last == bytes { return }
            if !state.known.insert(bytes).inserted {
                state.secrets.removeAll { $0 == bytes }
            } else if state.secrets.count >= rules.maxCount {
                state.known.remove(state.secrets.removeFirst())
            }
            state.secrets.append(bytes)
            state.firsts = nil
        }
    }

    /// Returns a text without the secrets.
    package func mask(_ text: String) -> String {
        if text.isEmpty { return text }
        let (secrets, firsts) = state.withLock { ($0.secrets, Self.places(&$0)) }
        if secrets.isEmpty { return text }
        let bytes = Array(text.utf8)
        var masked: [UInt8] = []
        var (at, kept) = (0, 0)
        while at < bytes.count {
            var end = 0
            for index in firsts[Int(bytes[at])] {
                end = max(end, self.end(of: secrets[index], in: bytes, from: at))
            }
            if let unit = Self.unit(bytes, at) {
                for first in [unit.first, unit.character?.first] where first != bytes[at] {
                    for index in first.map({ firsts[Int($0)] }) ?? [] {
                        end = max(end, self.end(of: secrets[index], in: bytes, from: at))
                    }
                }
            }
            guard end > at else {
                at += 1
                continue
            }
            masked += bytes[kept ..< at]
            masked += rules.mask.utf8
            (at, kept) = (end, end)
        }
        if kept == 0 { return text }
        masked += bytes[kept...]
        return String(decoding: masked, as: UTF8.self)
    }

    /// Most positions of a text are passed by their first byte.
    private static func places(_ state: inout State) -> [[Int]] {
        if let firsts = state.firsts { return firsts }
        var firsts = [[Int]](repeating: [], count: 256)
        for (index, secret) in state.secrets.enumerated() { firsts[Int(secret[0])].append(index) }
        state.firsts = firsts
        return firsts
    }

    /// Returns the offset behind a secret, or enough of its beginning; 0 if it is not there.
    private func end(of secret: [UInt8], in bytes: [UInt8], from start: Int) -> Int {
        // A byte that escapes begin with stands for itself, or is escaped.
        var others: [(at: Int, count: Int)] = []
        var (at, count, best, looks) = (start, 0, 0, 0)
        while true {
            while count < secret.count, at < bytes.count {
                if bytes[at] != secret[count] {
                    guard let next = Self.step(secret, count, bytes, at) else { break }
                    (at, count) = next
                    continue
                }
                if looks < Self.maxLooks, "%\\&".utf8.contains(bytes[at]) {
                    best = max(best, end(of: secret, until: count, in: bytes, at))
                    for end in Self.escapedEnds(bytes, at) { others.append((end, count + 1)) }
                    looks += 1
                }
                at += 1
                count += 1
            }
            best = max(best, end(of: secret, until: count, in: bytes, at))
            guard let other = others.popLast() else { return best }
            (at, count) = other
        }
    }

    /// The most bytes of a secret that are looked at as escapes of themselves.
    private static let maxLooks = 64
    /// The most levels of escapes of such a byte.
    private static let maxLevels = 6

    /// Returns the offsets behind the escapes of `%`, `&` or `\` that may stand here: `%25`, `&amp;`, `\\`.
    private static func escapedEnds(_ bytes: [UInt8], _ start: Int) -> [Int] {
        var ends: [Int] = []
        var at = start + 1
        switch bytes[start] {
        case UInt8(ascii: "%"):
            while ends.count < maxLevels, bytes[at...].starts(with: "25".utf8) {
                at += 2
                ends.append(at)
            }
        case UInt8(ascii: "&"):
            while ends.count < maxLevels, bytes[at...].starts(with: "amp;".utf8) {
                at += 4
                ends.append(at)
            }
            if let unit = unit(bytes, start), unit.count == 1, unit.first == bytes[start] {
                ends.append(unit.end)
            }
        default:
            guard let end = behindBackslashes(bytes, start) else { return [] }
            var width = 2
            while start + width <= end {
                ends.append(start + width)
                width *= 2
            }
        }
        return ends
    }

    /// Returns the places behind what is encoded here, in the text and in the secret; nil if it is something
    /// else.
    private static func step(
        _ secret: [UInt8], _ count: Int, _ bytes: [UInt8], _ at: Int
    ) -> (at: Int, count: Int)? {
        guard let unit = unit(bytes, at) else { return nil }
        if unit.isFound(in: secret, at: count) { return (unit.end, count + unit.count) }
        if isLetter(unit, for: secret[count], bytes[at]) { return (unit.end, count + 1) }
        guard let unit = unit.character, unit.isFound(in: secret, at: count) else { return nil }
        return (unit.end, count + unit.count)
    }

    /// Returns the offset behind what was found of a secret if that is to be masked; otherwise 0.
    private func end(of secret: [UInt8], until count: Int, in bytes: [UInt8], _ end: Int) -> Int {
        var at = end
        if count == secret.count {
            // The rest of one that was too long to be kept.
            if count == Self.maxBytes { while at < bytes.count, Self.isVisible(bytes[at]) { at += 1 } }
            return at
        }
        // What follows in the secret may begin as the ellipsis does.
        for back in Self.ellipsis.indices where count - back >= Self.minCutPart {
            if let cut = Self.cut(bytes, at - back) { return cut }
        }
        return rules.masksParts && count >= Self.minPart ? at : 0
    }

    /// The most bytes of an escape that is cut off.
    private static let maxCutEscape = 16

    /// Returns the offset of a `…` that stands here, or behind a part of an escape or of a character; nil if
    /// the text was not cut here.
    private static func cut(_ bytes: [UInt8], _ start: Int) -> Int? {
        var end = start
        if bytes[start...].starts(with: "\u{FFFD}".utf8) {
            end += 3
        } else if end < bytes.count, "%\\&".utf8.contains(bytes[end]) {
            let escape = bytes[start...].prefix(maxCutEscape)
            let isName = bytes[start] == UInt8(ascii: "&")
            end =
                escape.firstIndex {
                    !#"%\&#xu{;0123456789abcdefABCDEF"#.utf8.contains($0)
                        && !(isName && "ampltgquos".utf8.contains($0))
                } ?? escape.endIndex
        }
        return bytes[end...].starts(with: ellipsis) ? end : nil
    }

    /// Whether this is the letter of the escape for a control character, such as the `n` of `\n`.
    private static func isLetter(_ letter: Encoded, for control: UInt8, _ first: UInt8) -> Bool {
        guard first == UInt8(ascii: "\\"), letter.count == 1, control < 0x20 else { return false }
        switch letter.first {
        case UInt8(ascii: "n"): return control == 0x0A
        case UInt8(ascii: "r"): return control == 0x0D
        case UInt8(ascii: "t"): return control == 0x09
        default: return false
        }
    }

    private static func isVisible(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "<")
    }

    /// What stands in a text for one byte or one character, and the offset behind it.
    private struct Encoded {
        /// The bytes in UTF-8, the first one in the lowest bits.
        private var bits: UInt32
        private(set) var count = 1
        let end: Int

        /// A byte, also one that is a part of a character.
        init(_ byte: UInt8, end: Int) { (bits, self.end) = (UInt32(byte), end) }

        /// A character; nil for a number of none.
        init?(character: Int, end: Int) {
            guard let scalar = UInt32(exactly: character).flatMap(Unicode.Scalar.init) else { return nil }
            (bits, count, self.end) = (0, 0, end)
            for byte in UTF8.encode(scalar) ?? Unicode.UTF8.EncodedScalar() {
                bits |= UInt32(byte) << (8 * UInt32(count))
                count += 1
            }
        }

        var first: UInt8 { UInt8(truncatingIfNeeded: bits) }

        /// The character that has the number of this byte: `\xe4` is one for some programs.
        var character: Encoded? {
            count == 1 && first >= 0x80 ? Encoded(character: Int(first), end: end) : nil
        }

        func isFound(in secret: [UInt8], at start: Int) -> Bool {
            guard count <= secret.count - start else { return false }
            return (0 ..< count).allSatisfy {
                secret[start + $0] == UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0)))
            }
        }
    }

    /// The most backslashes in front of one character: six levels of JSON in JSON.
    private static let maxBackslashes = 63

    /// Returns what is encoded at an offset; nil for a byte that stands for itself.
    private static func unit(_ bytes: [UInt8], _ start: Int) -> Encoded? {
        switch bytes[start] {
        case UInt8(ascii: "%"):
            // %41, and %2541 for a text that was encoded twice.
            var at = start + 1
            while at + 1 < bytes.count, bytes[at] == UInt8(ascii: "2"), bytes[at + 1] == UInt8(ascii: "5") {
                at += 2
            }
            return number(bytes, at, digits: 2).map { Encoded(UInt8($0), end: at + 2) }
        case UInt8(ascii: "\\"): return escape(bytes, start)
        case UInt8(ascii: "&"):
            // &lt;, and &amp;lt; for a text that was encoded twice.
            var at = start + 1
            while bytes[at...].starts(with: "amp;".utf8) { at += 4 }
            guard at + 1 < bytes.count else { return nil }
            if bytes[at] == UInt8(ascii: "#") { return reference(bytes, at + 1) }
            return names.first { bytes[at...].starts(with: $0.name.utf8) }.map {
                Encoded($0.byte, end: at + $0.name.utf8.count)
            }
        case UInt8(ascii: "+"): return Encoded(0x20, end: start + 1)
        default: return nil
        }
    }

    /// The references of XML by name, but `&amp;`.
    private static let names: [(name: String, byte: UInt8)] = [
        ("lt;", UInt8(ascii: "<")), ("gt;", UInt8(ascii: ">")), ("quot;", UInt8(ascii: "\"")),
        ("apos;", UInt8(ascii: "'")),
    ]

    /// `\n`, `\u0041`, `\ud83d\ude00`, `\u{1f600}`, `\x41`.
    private static func escape(_ bytes: [UInt8], _ start: Int) -> Encoded? {
        guard let at = behindBackslashes(bytes, start) else { return nil }
        switch bytes[at] {
        case UInt8(ascii: "x"):
            return number(bytes, at + 1, digits: 2).map { Encoded(UInt8($0), end: at + 3) }
        case UInt8(ascii: "u"):
            if at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "{") {
                return number(bytes, at + 2, base: 16, before: UInt8(ascii: "}"))
            }
            guard let high = number(bytes, at + 1, digits: 4) else { return nil }
            let end = at + 5
            guard high & 0xFC00 == 0xD800 else { return Encoded(character: high, end: end) }
            guard end < bytes.count, let next = behindBackslashes(bytes, end),
                bytes[next] == UInt8(ascii: "u"),
                let low = number(bytes, next + 1, digits: 4), low & 0xFC00 == 0xDC00
            else { return nil }
            return Encoded(character: 0x10000 + (high & 0x3FF) << 10 + low & 0x3FF, end: next + 5)
        default: return Encoded(bytes[at], end: at + 1)
        }
    }

    /// Returns the offset behind backslashes, which each further level of JSON doubles.
    private static func behindBackslashes(_ bytes: [UInt8], _ start: Int) -> Int? {
        let some = bytes[start ..< min(bytes.count, start + maxBackslashes + 1)]
        guard let end = some.firstIndex(where: { $0 != UInt8(ascii: "\\") }), end > start else { return nil }
        return end
    }

    private static func number(_ bytes: [UInt8], _ start: Int, digits: Int) -> Int? {
        guard start + digits <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[start ..< start + digits] {
            guard let digit = digit(byte, base: 16) else { return nil }
            value = value << 4 | digit
        }
        return value
    }

    /// `65;` or `x41;`.
    private static func reference(_ bytes: [UInt8], _ start: Int) -> Encoded? {
        let isHex = bytes[start] | 0x20 == UInt8(ascii: "x")
        return number(
            bytes, isHex ? start + 1 : start, base: isHex ? 16 : 10, before: UInt8(ascii: ";"))
    }

    /// The number of a character, and the byte that ends it.
    private static func number(_ bytes: [UInt8], _ start: Int, base: Int, before mark: UInt8) -> Encoded? {
        var (value, at) = (0, start)
        while at < bytes.count, value <= 0x10FFFF, let digit = digit(bytes[at], base: base) {
            value = value * base + digit
            at += 1
        }
        guard at > start, at < bytes.count, bytes[at] == mark else { return nil }
        return Encoded(character: value, end: at + 1)
    }

    private static func digit(_ byte: UInt8, base: Int) -> Int? {
        let value: Int
        switch byte {
        case 0x30 ... 0x39: value = Int(byte) - 0x30
        case 0x41 ... 0x46: value = Int(byte) - 0x41 + 10
        case 0x61 ... 0x66: value = Int(byte) - 0x61 + 10
        default: return nil
        }
        return value < base ? value : nil
    }
}
