import MCPCore

extension ContentBlock {
    /// The text in the block, if any.
    var ownText: String? {
        let text = text ?? resource?.text ?? ""
        return text.isEmpty ? nil : text
    }

    /// The text given to a model that reads only text.
    var lines: String { text ?? resource?.text ?? summary }

    /// A one-line description of the block, without its content.
    var summary: String {
        switch type {
        case .image, .audio: Self.notShown([type.rawValue, mimeType], base64: data)
        case .resource:
            Self.notShown(["resource", resource?.uri, resource?.mimeType], base64: resource?.blob)
        case .resourceLink: "[link \(link?.uri ?? "")]"
        default: "[\(type.rawValue), not shown]"
        }
    }

    private static func notShown(_ words: [String?], base64: String?) -> String {
        let bytes = (base64?.utf8.count ?? 0) / 4 * 3
        let size = bytes < 1_000 ? "\(bytes) bytes" : "\((bytes + 500) / 1_000) kB"
        return "[\(words.compactMap(\.self).joined(separator: " ")), \(size), not shown]"
    }
}
