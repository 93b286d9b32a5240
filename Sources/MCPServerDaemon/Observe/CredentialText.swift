import MCPCore

/// Recognises credentials by their form: bearer tokens, JWTs, private keys, passwords in URLs, and tokens of
/// well-known services and of this program.
enum CredentialText {
    /// The fewest bytes of a credential.
    private static let minBytes = 16

    /// The beginning of a credential, and what is needed behind it to tell it from prose.
    private struct Prefix {
        let bytes: [UInt8]
        /// The fewest bytes, with those of the prefix.
        var minBytes = CredentialText.minBytes
        /// Whether it needs a digit; otherwise an upper-case letter will do.
        var needsDigit = false

        init(_ text: String, minBytes: Int = CredentialText.minBytes, needsDigit: Bool = false) {
            bytes = Array(text.utf8)
            self.minBytes = minBytes
            self.needsDigit = needsDigit
        }
    }

    private static let prefixes =
        [
            Prefix("bearer ", minBytes: 23, needsDigit: true), Prefix("basic ", needsDigit: true),
            Prefix("sk-", minBytes: 32, needsDigit: true), Prefix("eyj", minBytes: 32, needsDigit: true),
        ]
        + [
            "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "akia", "-----begin", "aiza",
            StaticToken.prefix,
        ].map { Prefix($0) }

    /// Whether a prefix begins with this byte.
    private static let isFirst: [Bool] = (0 ... 255).map { byte in
        prefixes.contains { $0.bytes[0] | 0x20 == UInt8(byte) | 0x20 }
    }

    /// Whether a byte belongs to a word, whose start is the only place within a text that is compared.
    private static let isWordByte: [Bool] = (0 ... 255).map { byte in
        ASCII.isDigit(UInt8(byte)) || ASCII.isLetter(UInt8(byte))
    }

    /// Whether a byte may be part of a token.
    private static let isTokenByte: [Bool] = (0 ... 255).map { byte in
        isWordByte[byte] || "_-./+=~".utf8.contains(UInt8(byte))
    }

    static func isFound(in text: String) -> Bool {
        var text = text
        return text.withUTF8 { unsafe isFound(in: $0) }
    }

    /// Whether a text contains a credential: at its start, or at the start of a word with the bytes of a
    /// token behind it.
    static func isFound(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count >= minBytes else { return false }
        var isWordStart = true
        var run = Run()
        var place = 0
        while place < text.count {
            let byte = unsafe text[place]
            if isWordStart, isFirst[Int(byte)], unsafe isCredential(text, at: place, &run) { return true }
            if byte == 0x3A, unsafe isPassword(text, after: place) { return true }
            // The letter of an escape does not belong to the word behind it.
            place += byte == 0x5C ? 2 : 1
            isWordStart = !isWordByte[Int(byte)]
        }
        return false
    }

    /// The bytes of a token that were looked at last, so that none is looked at twice.
    private struct Run {
        var end = 0
        var lastDigit = -1
        var lastUpper = -1

        mutating func look(at text: UnsafeBufferPointer<UInt8>, from start: Int) {
            guard start >= end else { return }
            end = start
            while end < text.count, unsafe isTokenByte[Int(text[end])] {
                if unsafe ASCII.isDigit(text[end]) { lastDigit = end }
                if unsafe text[end] &- 0x41 < 26 { lastUpper = end }
                end += 1
            }
        }
    }

    private static func isCredential(
        _ text: UnsafeBufferPointer<UInt8>, at place: Int, _ run: inout Run
    ) -> Bool {
        for prefix in prefixes where unsafe starts(text, at: place, with: prefix.bytes) {
            // What no prose contains, and a text that is nothing else.
            if place == 0 || prefix.bytes[0] == 0x2D { return true }
            let start = place + prefix.bytes.count
            unsafe run.look(at: text, from: start)
            guard run.end - place >= prefix.minBytes else { continue }
            // "basic requirements" are no credential.
            if run.lastDigit >= start || !prefix.needsDigit && run.lastUpper >= start { return true }
        }
        return false
    }

    private static func starts(_ text: UnsafeBufferPointer<UInt8>, at place: Int, with prefix: [UInt8])
        -> Bool
    {
        guard text.count - place >= prefix.count else { return false }
        for (index, byte) in prefix.enumerated() where unsafe text[place + index] | 0x20 != byte | 0x20 {
            return false
        }
        return true
    }

    /// Whether a colon begins `://user:password@`.
    private static func isPassword(_ text: UnsafeBufferPointer<UInt8>, after colon: Int) -> Bool {
        guard unsafe starts(text, at: colon, with: separator) else { return false }
        var hasPassword = false
        for place in colon + separator.count ..< text.count {
            switch unsafe text[place] {
            case 0x3A: hasPassword = true
            case 0x40: return hasPassword
            // The end of the authority, in the escapes of JSON too.
            case ...0x20, 0x22, 0x2C, 0x2F, 0x3B, 0x3F, 0x23, 0x5C: return false
            default: break
            }
        }
        return false
    }

    private static let separator = Array("://".utf8)
}
