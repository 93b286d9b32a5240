import MCPCore

/// A printer of the traffic on the wire, to stderr: a line per message with `-v`, everything with `-vv`.
struct TracePrinter: Sendable {
    let sink: any Sink
    let showsWire: Bool
    let style: Style

    func show(_ event: TraceEvent) {
        guard let text = text(event) else { return }
        sink.write(text + "\n")
    }

    func text(_ event: TraceEvent) -> String? {
        switch event {
        case .sent(let method, let bytes):
            style.cyan(">") + " " + (showsWire ? line(String(bytes)) : Self.summary(bytes, method: method))
        case .received(let bytes):
            style.green("<") + " " + (showsWire ? line(String(bytes)) : Self.summary(bytes, method: nil))
        case .httpRequest(let head): showsWire ? lines(Self.masked(head), style.cyan(">")) : nil
        case .httpResponse(_, let head): showsWire ? lines(head, style.green("<")) : nil
        case .garbage(let text): style.red("!") + " not a message: " + line(text)
        case .warning(let text): style.red("!") + " " + line(text)
        case .stderr(let text): "server: " + line(text)
        }
    }

    /// `tools/call id 3 (212 B)`, `result id 3 (1.2 kB)`, `error -32602 id 3 (90 B)`
    static func summary(_ bytes: ByteSlice, method: String?) -> String {
        var words: [String] = []
        if let message = try? RawJSON(validating: bytes) {
            if let method = method ?? message["method"]?.string, !method.isEmpty {
                words.append(inlineText(method))
            } else if let error = message["error"] {
                words.append("error \(error["code"]?.int.map(String.init) ?? "")")
            } else {
                words.append(message["result"] == nil ? "message" : "result")
            }
            if let id = message["id"] { words.append("id \(inlineText(String(id.bytes)))") }
        } else {
            words.append(inlineText(method ?? "message"))
        }
        words.append("(\(ByteSize.text(bytes.count)))")
        return words.joined(separator: " ")
    }

    /// Masks the query in the first line, `GET /mcp?key=… HTTP/1.1`.
    private static func masked(_ head: String) -> String {
        let first = head.prefix { !$0.isNewline }
        let words = first.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        return words.map { $0.contains("?") ? MaskedText.url($0) : $0 }.joined(separator: " ")
            + head[first.endIndex...]
    }

    private func lines(_ head: String, _ mark: String) -> String {
        // "\r\n" is one Character.
        head.split(whereSeparator: \.isNewline).map { mark + " " + line(String($0)) }.joined(separator: "\n")
    }

    private func line(_ text: String) -> String {
        TerminalText.inline(text, limit: sink.isTerminal ? TerminalText.maxLineLength : Int.max)
    }
}
