/// A key that was pressed.
enum Key: Sendable, Hashable {
    case text(String)
    case left, right, home, end, wordLeft, wordRight
    case up, down
    case backspace, delete, deleteWord, deleteToStart, deleteToEnd
    case tab, enter, interrupt, endOfInput, clearScreen
    case pasteStart, pasteEnd
    case other
}

/// Turns the bytes that a terminal sends into keys.
///
/// What is pasted is text alone, in which line ends and tabs are blanks: nothing of it edits, completes or
/// runs anything.
struct KeyDecoder {
    private var pending: [UInt8] = []
    /// Whether the end of a paste is still to come.
    private(set) var isPasting = false

    /// The time in a paste without anything but Ctrl-C after which that is a key: the end may never come.
    /// Everything else stays text.
    static let longestPause = Duration.seconds(1)
    private var pause = Duration.zero

    /// Drops the beginning of a key whose rest was read elsewhere, if it came at all.
    mutating func dropUnfinished() { pending = [] }

    /// Takes bytes, which came after a pause, and returns the keys that they complete.
    mutating func take(_ bytes: some Collection<UInt8>, after pause: Duration = .zero) -> [Key] {
        var keys: [Key] = []
        self.pause = isPasting && bytes.allSatisfy { $0 == 0x03 } ? self.pause + pause : .zero
        if self.pause >= Self.longestPause {
            self = Self()
            return [.interrupt]
        }
        var pasted = ""
        for byte in bytes {
            // What cannot continue the bytes before begins a key of its own.
            if let first = pending.first, byte < 0x20 || first >= 0x80 && byte & 0xC0 != 0x80 { pending = [] }
            pending.append(byte)
            if let key = Self.key(pending) {
                pending = []
                switch key {
                case .pasteStart: isPasting = true
                case .pasteEnd:
                    isPasting = false
                    if !pasted.isEmpty { keys.append(.text(pasted)) }
                    pasted = ""
                case .text(let text) where isPasting: pasted += text
                case .enter where isPasting, .tab where isPasting: pasted += " "
                default: if !isPasting { keys.append(key) }
                }
            } else if pending.count > 16 {
                pending = []
            }
        }
        if !pasted.isEmpty { keys.append(.text(pasted)) }
        return keys
    }

    /// Returns the key of these bytes; nil if more belong to it.
    private static func key(_ bytes: [UInt8]) -> Key? {
        let first = bytes[0]
        if first == 0x1B { return escape(bytes) }
        if first < 0x20 || first == 0x7F { return control(first) }
        if first & 0xC0 == 0x80 { return .other }
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard bytes.count >= length else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self),
            // Control characters beyond ASCII and direction marks are not text.
            !text.unicodeScalars.contains(where: {
                [.control, .format].contains($0.properties.generalCategory) && $0.value != 0x200D
            })
        else { return .other }
        return .text(text)
    }

    private static func control(_ byte: UInt8) -> Key {
        switch byte {
        case 0x01: .home
        case 0x02: .left
        case 0x03: .interrupt
        case 0x04: .endOfInput
        case 0x05: .end
        case 0x06: .right
        case 0x08, 0x7F: .backspace
        case 0x09: .tab
        case 0x0A, 0x0D: .enter
        case 0x0B: .deleteToEnd
        case 0x0C: .clearScreen
        case 0x0E: .down
        case 0x10: .up
        case 0x15: .deleteToStart
        case 0x17: .deleteWord
        default: .other
        }
    }

    private static func escape(_ bytes: [UInt8]) -> Key? {
        guard bytes.count > 1 else { return nil }
        switch bytes[1] {
        case UInt8(ascii: "b"): return .wordLeft
        case UInt8(ascii: "f"): return .wordRight
        case 0x7F: return .deleteWord
        case UInt8(ascii: "["), UInt8(ascii: "O"): break
        default: return .other
        }
        guard bytes.count > 2, let last = bytes.last, (0x40 ... 0x7E).contains(last) else { return nil }
        let parameters = String(decoding: bytes[2 ..< bytes.count - 1], as: UTF8.self)
        let isWord = parameters.hasSuffix(";5") || parameters.hasSuffix(";3")
        switch last {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return isWord ? .wordRight : .right
        case UInt8(ascii: "D"): return isWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
            return switch parameters {
            case "1", "7": .home
            case "4", "8": .end
            case "3": .delete
            case "200": .pasteStart
            case "201": .pasteEnd
            default: .other
            }
        default: return .other
        }
    }
}
