import MCPCore

/// One part of a result, as it is shown or saved.
enum ContentPiece: Sendable, Hashable {
    case text(String)
    case bytes([UInt8], mimeType: String)
    /// A line that represents something without text of its own.
    case line(String)

    init(_ block: ContentBlock) throws(Failure) {
        switch block.type {
        case .text: self = .text(block.text ?? "")
        case .image, .audio:
            guard let bytes = block.decodedData else {
                throw .malformed("the server sent invalid base64 data")
            }
            self = .bytes(bytes, mimeType: block.mimeType ?? "application/octet-stream")
        case .resource:
            guard let contents = block.resource else { throw .malformed("a resource block has no resource") }
            self = try ContentPiece(contents)
        case .resourceLink: self = .line(block.link.map(Self.link) ?? "[empty link]")
        default: self = .text(block.unknown.map { JSONValue.object($0).serialized() } ?? "")
        }
    }

    init(_ contents: ResourceContents) throws(Failure) {
        if let text = contents.text {
            self = .text(text)
        } else {
            guard let bytes = contents.bytes else { throw .malformed("the server sent invalid base64 data") }
            self = .bytes(bytes, mimeType: contents.mimeType ?? "application/octet-stream")
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
