import MCPCore

/// The name under which a resource is saved.
enum FileNameInURI {
    /// The maximum length of a name: 120 bytes.
    static let maxBytes = 120

    /// Returns the last segment of a resource's address, without anything that has a meaning to a file
    /// system: separators, control characters, leading dots, and what Windows forbids. The name is never
    /// empty.
    static func name(_ uri: String) -> String {
        let whole = uri.prefix { $0 != "?" && $0 != "#" }
        let path = whole.firstRange(of: "://").map { whole[$0.upperBound...] } ?? whole
        let decoded = PercentCoding.decode(Array(path.utf8)) ?? String(path)
        let segment = decoded.split { $0 == "/" || $0 == "\\" || $0 == ":" }.last ?? ""
        var name = ""
        for scalar in segment.unicodeScalars {
            // U+202E and similar characters would display a name other than the one that is written.
            let isInvisible =
                scalar.properties.generalCategory == .format || scalar.value < 0x20 || scalar.value == 0x7F
            guard !isInvisible, !"\"*<>?|".unicodeScalars.contains(scalar) else { continue }
            guard name.utf8.count + String(scalar).utf8.count <= maxBytes else { break }
            name.unicodeScalars.append(scalar)
        }
        let visible = name.drop { $0 == "." || $0 == " " }
        return visible.isEmpty ? "download" : String(visible)
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
