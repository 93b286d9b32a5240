import MCPCore

/// One part of a result, as it is shown or saved.
enum ContentPiece: Sendable, Hashable {
    case text(String)
    case bytes([UInt8], mimeType: String)
    /// A line that represents something without text of its own.
    case line(String)
    /// What stands for a part that cannot be used: the reason.
    case unusable(String)

    private static let invalidData = "the server sent invalid base64 data"

    init(_ block: ContentBlock) {
        switch block.type {
        case .text: self = .text(block.text ?? "")
        case .image, .audio:
            self =
                block.decodedData.map {
                    .bytes($0, mimeType: block.mimeType ?? "application/octet-stream")
                } ?? .unusable(Self.invalidData)
        case .resource:
            self = block.resource.map { ContentPiece($0) } ?? .unusable("a resource block has no resource")
        case .resourceLink: self = .line(block.link.map(Self.link) ?? "[empty link]")
        default: self = .text(block.unknown.map { JSONValue.object($0).serialized() } ?? "")
        }
    }

    init(_ contents: ResourceContents) {
        if let text = contents.text {
            self = .text(text)
        } else {
            self =
                contents.bytes.map {
                    .bytes($0, mimeType: contents.mimeType ?? "application/octet-stream")
                } ?? .unusable(Self.invalidData)
        }
    }

    private static func link(_ resource: Resource) -> String {
        var facts: [String] = []
        if resource.name != resource.uri { facts.append(inlineText(resource.name)) }
        if let mimeType = resource.mimeType { facts.append(inlineText(mimeType)) }
        if let size = resource.size { facts.append(ByteSize.text(size)) }
        return "→ \(inlineText(resource.uri))" + (facts.isEmpty ? "" : "  (\(facts.joined(separator: ", ")))")
    }

    /// Returns the line that represents bytes.
    static func placeholder(_ count: Int, _ mimeType: String) -> String {
        "[\(inlineText(mimeType)), \(ByteSize.text(count)); save it with -o FILE]"
    }

    /// The line in the place of a part that cannot be used, or for any other part nil.
    var note: String? {
        if case .unusable(let reason) = self { "[left out: \(reason)]" } else { nil }
    }

    /// Returns the extension of a file that contains such bytes.
    static func fileExtension(_ mimeType: String) -> String {
        let type = mimeType.prefix { $0 != ";" }.trimmingSpaces().lowercased()
        return switch type {
        case "image/png": "png"
        case "image/jpeg": "jpg"
        case "image/gif": "gif"
        case "image/webp": "webp"
        case "image/svg+xml": "svg"
        case "audio/wav", "audio/x-wav": "wav"
        case "audio/mpeg": "mp3"
        case "audio/ogg": "ogg"
        case "video/mp4": "mp4"
        case "application/pdf": "pdf"
        case "application/json": "json"
        case "application/zip": "zip"
        case "text/html": "html"
        case "text/markdown": "md"
        case "text/csv": "csv"
        default: type.hasPrefix("text/") ? "txt" : "bin"
        }
    }
}
