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
