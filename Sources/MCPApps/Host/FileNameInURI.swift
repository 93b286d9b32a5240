import MCPCore

/// The name under which a resource is saved.
enum FileNameInURI {
    /// The maximum length of a name: 120 bytes.
    static let maxBytes = 120

    /// Returns the last segment of a resource's address, without anything that has a meaning to a file
    /// system: separators, control characters, leading dots, and what Windows forbids. The name is never
    /// empty.
    static func name(_ uri: String) -> String {
        let whole = uri.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let text = Substring(whole)
        let path = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text
        let decoded = PercentCoding.decode(Array(path.utf8)) ?? String(path)
        // By scalars, and without what nobody sees: a slash and a mark behind it are one character.
        let visible = Array(decoded.unicodeScalars).filter {
            !isInvisible($0) && !"\"*<>?|".unicodeScalars.contains($0)
        }
        let segment = visible.split { "/\\:".unicodeScalars.contains($0) }.last ?? []
        var name = "".unicodeScalars
        var bytes = 0
        for scalar in segment.drop(while: { $0 == "." || $0 == " " }) {
            bytes += UTF8.width(scalar)
            guard bytes <= maxBytes else { break }
            name.append(scalar)
        }
        return name.isEmpty ? "download" : String(name)
    }

    /// U+202E and similar characters would display a name other than the one that is written.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}

/// The media type of a file.
enum MediaType {
    /// Returns `type/subtype` in lower case, without parameters; `application/octet-stream` for anything that
    /// is not a media type. What is saved is what was shown: the type must not smuggle in anything else.
    static func plain(_ type: String?) -> String {
        let none = "application/octet-stream"
        guard let type, type.utf8.count <= 256 else { return none }
        let plain = type.prefix { $0 != ";" && $0 != " " }.lowercased()
        let parts = plain.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isTypeByte) })
        else { return none }
        return plain
    }

    private static func isTypeByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "!#$&-^_.+".utf8.contains(byte)
    }
}
