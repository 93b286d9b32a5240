import MCPCore

/// Content blocks in the form that the page shows: `{kind, …}` with the name of a template.
enum ContentJSON {
    /// The limits for a result in one event: 8 MiB in all, 64 KiB of a text, and 200 blocks. The rest is only
    /// counted.
    static let maxBytes = 8 << 20
    static let maxText = 64 << 10
    static let maxBlocks = 200

    static func blocks(_ result: CallToolResult) -> [JSONValue] {
        var content = result.content
        guard let structured = result.structuredContent else {
            let shown = blocks(content)
            return shown.isEmpty ? [["kind": "nothing"]] : shown
        }
        // Most servers send the same value twice, once as text.
        let isRepeated =
            content.count == 1 && content[0].text.flatMap { try? JSONValue(parsing: $0) } == structured
        if isRepeated { content = [] }
        let json: JSONValue = ["kind": "json", "text": .string(pretty(structured, maxText))]
        return blocks(content) + [json]
    }

    /// Returns the blocks as the page shows them.
    ///
    /// - Parameter maxBytes: the limit for all blocks together.
    static func blocks(_ content: [ContentBlock], maxBytes: Int = Self.maxBytes) -> [JSONValue] {
        var room = maxBytes
        var shown: [JSONValue] = []
        for one in content {
            guard room > 0, shown.count < maxBlocks else {
                return shown + [text("… and \(content.count - shown.count) more")]
            }
            let json = block(one, room)
            room -= json.serialized().utf8.count
            shown.append(json)
        }
        return shown
    }

    private static func block(_ block: ContentBlock, _ room: Int) -> JSONValue {
        switch block.type {
        case .text: text(block.text ?? "", room)
        case .image: data("image", block, accepts: "image/", room)
        case .audio: data("audio", block, accepts: "audio/", room)
        case .resourceLink:
            link(block.link?.title ?? block.link?.name, block.link?.uri ?? "", block.link?.mimeType)
        case .resource:
            if let content = block.resource?.text {
                text(content, room)
            } else {
                link(nil, block.resource?.uri ?? "", block.resource?.mimeType)
            }
        default:
            [
                "kind": "json",
                "text": .string(
                    block.unknown.map { pretty(.object($0), min(room, maxText)) }
                        ?? clipped(block.type.rawValue, 256)),
            ]
        }
    }

    /// Returns a text, or as much of it as may be shown.
    static func clipped(_ text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        return "\(beginning(of: text, limit))… (\(text.utf8.count) bytes)"
    }

    /// Returns as much of a text as fits into this many bytes, without a part of a character of Unicode.
    static func beginning(of text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let bytes = Array(text.utf8.prefix(max(0, limit) + 1))
        // The byte behind the end begins a character there; the others go on with one.
        let end = bytes.lastIndex { $0 & 0xC0 != 0x80 } ?? 0
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// Returns JSON for a person. Long JSON is not indented: that could make it a hundred times longer.
    static func pretty(_ json: JSONValue, _ limit: Int) -> String {
        let text = json.serialized()
        return clipped(text.utf8.count > limit ? text : json.serialized(pretty: true), limit)
    }

    private static func text(_ text: String, _ room: Int = maxText) -> JSONValue {
        ["kind": "text", "text": .string(clipped(text, min(room, maxText)))]
    }

    /// Returns data whose type matches its kind; anything else is only named.
    private static func data(
        _ kind: String, _ block: ContentBlock, accepts prefix: String, _ room: Int
    ) -> JSONValue {
        let type = block.mimeType ?? ""
        let isPlain = type.utf8.allSatisfy { $0.isASCIIAlphanumeric || "/+.-".utf8.contains($0) }
        guard type.hasPrefix(prefix), isPlain, let data = block.data else {
            return text("\(kind) of the type \(inlineText(type))", 512)
        }
        guard data.utf8.count <= room else {
            return text("\(kind) of the type \(inlineText(type)), too long to be shown", 512)
        }
        return ["kind": .string(kind), "src": .string("data:\(type);base64,\(data)")]
    }

    /// Returns a link. Invisible characters in its texts are named: they could make its address look like
    /// another one.
    private static func link(_ name: String?, _ uri: String, _ type: String?) -> JSONValue {
        func shown(_ text: String, _ limit: Int) -> JSONValue {
            .string(VisibleText.naming(clipped(text, limit)))
        }
        let scheme = uri.prefix { $0 != ":" }.lowercased()
        return [
            "kind": "link", "label": shown(name ?? uri, 1 << 10),
            "href": uri.utf8.count <= 8 << 10 && (scheme == "http" || scheme == "https")
                ? .string(uri) : .null,
            "about": shown(
                [name == nil ? nil : uri, type].compactMap { $0 }.joined(separator: " · "), 2 << 10),
        ]
    }
}
