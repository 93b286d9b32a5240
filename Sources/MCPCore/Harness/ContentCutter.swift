/// Cuts a result to what a model is given of it.
struct ContentCutter {
    let limit: Int

    /// The content up to the limit, with a notice where something was left out.
    func cut(_ content: [ContentBlock]) -> [ContentBlock] {
        var left = limit
        var kept: [ContentBlock] = []
        for (index, block) in content.enumerated() {
            let size = block.text?.utf8.count ?? block.data?.utf8.count ?? block.resource.map(Self.size) ?? 0
            if size <= left {
                kept.append(block)
                left -= size
                continue
            }
            if block.type == .text, let text = block.text { kept.append(.text(prefix(of: text, left))) }
            let rest = content.count - index
            let others = rest > 1 ? " and \(rest - 1) more parts" : ""
            kept.append(.text("[cut: a part of \(size) bytes\(others) did not fit into \(limit) bytes]"))
            return kept
        }
        return kept
    }

    private static func size(_ resource: ResourceContents) -> Int {
        (resource.text?.utf8.count ?? 0) + (resource.blob?.utf8.count ?? 0)
    }

    /// Whole characters only.
    private func prefix(of text: String, _ bytes: Int) -> String {
        var end = text.utf8.index(text.startIndex, offsetBy: min(bytes, text.utf8.count))
        while end.samePosition(in: text) == nil, end > text.startIndex { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
