import MCPCore

/// Cuts a result down to the part that is given to a model.
struct ContentCutter {
    let limit: Int

    /// Returns the content up to the limit, with a notice where something was left out.
    ///
    /// Text is cut. An image, sound or file that does not fit is replaced by a line that describes it, and
    /// the blocks after it are still considered.
    func cut(_ content: [ContentBlock]) -> [ContentBlock] {
        // There is no line break before the first block.
        var left = limit + 1
        var kept: [ContentBlock] = []
        for (index, block) in content.enumerated() {
            // The line break between two blocks, and the space that an empty block takes up.
            let size = Self.size(block) + 1
            if size <= left {
                kept.append(block)
                left -= size
                continue
            }
            let summary = ContentBlock.text(block.summary)
            if block.ownText == nil, Self.size(summary) + 1 <= left {
                kept.append(summary)
                left -= Self.size(summary) + 1
                continue
            }
            if let text = block.ownText, left > 1 { kept.append(.text(prefix(of: text, left - 1))) }
            let rest = content.count - index
            let others = rest > 1 ? " and \(rest - 1) more" : ""
            kept.append(.text("[cut: a part of \(size - 1) bytes\(others) did not fit into \(limit) bytes]"))
            return kept
        }
        return kept
    }

    private static func size(_ block: ContentBlock) -> Int {
        if let text = block.text { return text.utf8.count }
        if let data = block.data { return data.utf8.count }
        var writer = JSONWriter()
        block.write(to: &writer, for: .newest)
        return writer.finish().count
    }

    /// Returns the longest prefix of whole characters that fits.
    private func prefix(of text: String, _ bytes: Int) -> String {
        var end = text.utf8.index(text.startIndex, offsetBy: min(bytes, text.utf8.count))
        while end.samePosition(in: text) == nil, end > text.startIndex { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
