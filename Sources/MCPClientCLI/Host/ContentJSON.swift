import MCPCore

/// Content blocks as the page shows them: `{kind, …}` with the name of a template.
enum ContentJSON {
    static func blocks(_ result: CallToolResult) -> [JSONValue] {
        var blocks = result.content.map(block)
        if let structured = result.structuredContent {
            let json = structured.serialized(pretty: true)
            // Most servers say the same twice, once as text.
            let isRepeated =
                result.content.count == 1
                && result.content[0].text.flatMap { try? JSONValue(parsing: $0) } == structured
            if isRepeated { blocks = [] }
            blocks.append(["kind": "json", "text": .string(json)])
        }
        return blocks.isEmpty ? [["kind": "nothing"]] : blocks
    }

    static func block(_ block: ContentBlock) -> JSONValue {
        switch block.type {
        case .text: text(block.text ?? "")
        case .image: data("image", block, accepts: "image/")
        case .audio: data("audio", block, accepts: "audio/")
        case .resourceLink:
            link(block.link?.title ?? block.link?.name, block.link?.uri ?? "", block.link?.mimeType)
        case .resource:
            if let content = block.resource?.text {
                text(content)
            } else {
                link(nil, block.resource?.uri ?? "", block.resource?.mimeType)
            }
        default:
            [
                "kind": "json",
                "text": .string(
                    block.unknown.map { JSONValue.object($0).serialized(pretty: true) } ?? block.type.rawValue
                ),
            ]
        }
    }

    private static func text(_ text: String) -> JSONValue { ["kind": "text", "text": .string(text)] }

    /// Data of the kind that it says it is; anything else is named only.
    private static func data(_ kind: String, _ block: ContentBlock, accepts prefix: String) -> JSONValue {
        let type = block.mimeType ?? ""
        let isPlain = type.utf8.allSatisfy { $0.isASCIIAlphanumeric || "/+.-".utf8.contains($0) }
        guard type.hasPrefix(prefix), isPlain, let data = block.data else {
            return text("\(kind) of the type \(inlineText(type))")
        }
        return ["kind": .string(kind), "src": .string("data:\(type);base64,\(data)")]
    }

    private static func link(_ name: String?, _ uri: String, _ type: String?) -> JSONValue {
        let scheme = uri.prefix { $0 != ":" }.lowercased()
        return [
            "kind": "link", "label": .string(name ?? uri),
            "href": scheme == "http" || scheme == "https" ? .string(uri) : .null,
            "about": .string([name == nil ? nil : uri, type].compactMap { $0 }.joined(separator: " · ")),
        ]
    }
}
