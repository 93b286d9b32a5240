/// The spelling of a URI.
///
/// RFC 3986 says which URIs are the same, and servers do not agree: some cut the scheme off and look the rest
/// up as a path, decoded once or twice. A pattern is about the resource, however its URI is spelled.
struct URISpelling {
    /// Whether servers disagree about what it means: a part of it is `.` or `..`, wherever, or it has a
    /// control character, white space at an end, or bytes that are not UTF-8.
    private(set) var isUnclear = false
    /// Whether no other spelling is usual: it is clear, and has no empty part, no backslash, and no slash or
    /// unreserved character that is encoded.
    private(set) var isPlain = true
    /// The text with nothing encoded, and with slashes for backslashes.
    let bytes: [UInt8]
    let written: String

    private static let slash = UInt8(ascii: "/")
    private static let colon = UInt8(ascii: ":")
    private static let delimiters = Array("/?#&=:;".utf8)

    /// A name without a colon is no URI, and has one spelling.
    init(_ uri: String) {
        written = uri
        guard uri.utf8.contains(Self.colon) else {
            bytes = Array(uri.utf8)
            return
        }
        let (bytes, areEncoded) = Self.decoded(uri.utf8)
        self.bytes = bytes.map { $0 == UInt8(ascii: "\\") ? Self.slash : $0 }
        isPlain = zip(bytes, areEncoded).allSatisfy { byte, isEncoded in
            byte != UInt8(ascii: "\\") && !(isEncoded && (byte == Self.slash || Self.isUnreserved(byte)))
        }
        if Self.hasEmptyPart(self.bytes) { isPlain = false }
        isUnclear =
            bytes.contains { $0 < 0x20 || $0 == 0x7F } || Self.hasSpaceAtEnd(uri)
            || String(validating: bytes, as: UTF8.self) == nil
            || self.bytes.split { Self.delimiters.contains($0) }.contains { part in
                part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8)
            }
        if isUnclear { isPlain = false }
    }

    /// Whether servers may cut something off, as U+FEFF, too.
    private static func hasSpaceAtEnd(_ uri: String) -> Bool {
        [uri.unicodeScalars.first, uri.unicodeScalars.last].contains { scalar in
            scalar.map { $0.properties.isWhitespace || $0.value == 0xFEFF } ?? false
        }
    }

    /// Undoes all encoding, also of what was encoded more than once.
    private static func decoded(_ text: String.UTF8View) -> (bytes: [UInt8], areEncoded: [Bool]) {
        var bytes: [UInt8] = []
        var areEncoded: [Bool] = []
        for byte in text {
            bytes.append(byte)
            areEncoded.append(false)
            while bytes.count >= 3, bytes[bytes.count - 3] == UInt8(ascii: "%"),
                let high = ASCII.hexValue(bytes[bytes.count - 2]),
                let low = ASCII.hexValue(bytes[bytes.count - 1])
            {
                bytes.replaceSubrange((bytes.count - 3)..., with: [high << 4 | low])
                areEncoded.replaceSubrange((areEncoded.count - 3)..., with: [true])
            }
        }
        return (bytes, areEncoded)
    }

    /// RFC 3986, section 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        ASCII.isWord(byte) || "-.~".utf8.contains(byte)
    }

    /// The end of the scheme and the colon; nil for a text without one.
    static func schemeEnd(_ bytes: [UInt8]) -> Int? { bytes.firstIndex(of: colon).map { $0 + 1 } }

    /// The end of the scheme and the host.
    private static func hostEnd(_ bytes: [UInt8]) -> Int {
        guard let start = schemeEnd(bytes) else { return 0 }
        guard bytes[start...].starts(with: [slash, slash]) else { return start }
        return bytes[(start + 2)...].firstIndex { $0 == slash || isEndOfPath($0) } ?? bytes.count
    }

    private static func isEndOfPath(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Whether the path has an empty part, other than behind the scheme of a URI in it.
    private static func hasEmptyPart(_ bytes: [UInt8]) -> Bool {
        let path = bytes[hostEnd(bytes)...].prefix { !isEndOfPath($0) }
        return path.indices.dropLast().contains { place in
            path[place] == slash && path[place + 1] == slash && place > 0 && bytes[place - 1] != colon
        }
    }

    /// What is in front of `?` or `#`, decoded; nil for a text that has neither.
    var closedPath: String? {
        bytes.firstIndex(where: Self.isEndOfPath).map { String(decoding: bytes[..<$0], as: UTF8.self) }
    }

    // MARK: What is left out

    /// The texts that a pattern may fit which leaves something out: decoded, and as short as servers make a
    /// URI that they look up as a path.
    struct Readings {
        fileprivate(set) var decoded: [String]
        fileprivate(set) var short: [String]
    }

    var readings: Readings {
        func texts(_ bytes: [UInt8]) -> [String] {
            let path = Array(bytes.prefix { !Self.isEndOfPath($0) })
            let texts = [bytes, path, Self.withoutSlashes(path)].map { String(decoding: $0, as: UTF8.self) }
            return texts.enumerated().filter { !texts[..<$0.offset].contains($0.element) }.map(\.element)
        }
        let decoded = Self.lowercased(bytes)
        let short = Self.shortened(decoded)
        let whole = Self.withPath(short: short)
        return Readings(decoded: texts(decoded), short: texts(short) + (whole == short ? [] : texts(whole)))
    }

    /// Returns the forms of a pattern to compare with `readings`.
    static func forms(ofPattern text: String) -> (decoded: String, short: String) {
        let (bytes, areEncoded) = decoded(text.utf8)
        var pattern: [UInt8] = []
        for (byte, isEncoded) in zip(bytes, areEncoded) {
            if byte == UInt8(ascii: "\\") {
                pattern.append(slash)
            } else if isEncoded, "*?[".utf8.contains(byte) {
                pattern += [UInt8(ascii: "["), byte, UInt8(ascii: "]")]
            } else {
                pattern.append(byte)
            }
        }
        pattern = lowercased(pattern)
        let short = withoutSlashes(shortened(withUsualHost(pattern: pattern)))
        return (String(decoding: pattern, as: UTF8.self), String(decoding: short, as: UTF8.self))
    }

    /// The beginning of a URI in the short form of patterns.
    var short: String { String(decoding: Self.shortened(Self.lowercased(bytes)), as: UTF8.self) }

    /// RFC 3986, section 6.2.2.1: the scheme and the host have no case.
    private static func lowercased(_ bytes: [UInt8]) -> [UInt8] {
        let end = hostEnd(bytes)
        return bytes[..<end].map(ASCII.lowercased) + bytes[end...]
    }

    /// Without slashes behind the scheme, and with one in place of several.
    private static func shortened(_ bytes: [UInt8]) -> [UInt8] {
        let start = schemeEnd(bytes) ?? 0
        var short = Array(bytes[..<start])
        for byte in bytes[start...] {
            if byte == slash, short.last == slash || start > 0 && short.count == start { continue }
            short.append(byte)
        }
        return short
    }

    private static func withoutSlashes(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        while bytes.last == slash { bytes.removeLast() }
        return bytes
    }
}
