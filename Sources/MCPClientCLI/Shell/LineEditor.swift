import MCPCore

/// Reads lines at the terminal with editing, history and completion.
final class LineEditor {
    /// Returns the words to insert in the place of what was typed, and where that begins.
    typealias Complete = (String) async -> (start: Int, words: [String])

    private let prompt: String
    private let sink: PromptSink
    private let input = InputReader()
    private let complete: Complete
    private var decoder = KeyDecoder()
    private var keys: [Key] = []
    private var line = LineBuffer()

    /// The largest number of proposals that are shown.
    private static let maxShown = 100

    init(prompt: String, sink: PromptSink, complete: @escaping Complete) {
        self.prompt = prompt
        self.sink = sink
        self.complete = complete
    }

    /// Returns the next line; nil at the end of the input, and when the task is cancelled.
    func read(history: [String]) async -> String? {
        guard TerminalMode.readKeys() else { return nil }
        defer {
            sink.leave()
            TerminalMode.restore()
        }
        line = LineBuffer()
        var lines = history + [""]
        var index = lines.count - 1
        redraw()
        while let key = await next() {
            switch key {
            case .enter:
                // First, so that what follows the line end is the output of the command.
                TerminalMode.restore()
                sink.leave("\r\n")
                return line.text
            case .endOfInput where line.characters.isEmpty:
                sink.leave("\r\n")
                return nil
            case .endOfInput: _ = line.apply(.delete)
            case .interrupt:
                sink.leave("^C\r\n")
                line = LineBuffer()
                index = lines.count - 1
            case .clearScreen: sink.leave("\u{1B}[H\u{1B}[2J")
            case .up where index > 0, .down where index < lines.count - 1:
                lines[index] = line.text
                index += key == .up ? -1 : 1
                line = LineBuffer(lines[index])
            case .tab: await proposeWords()
            default: _ = line.apply(key)
            }
            redraw()
        }
        return nil
    }

    private func next() async -> Key? {
        while keys.isEmpty {
            guard let bytes = await input.read() else { return nil }
            keys = decoder.take(bytes)
        }
        return keys.removeFirst()
    }

    private func redraw() {
        let width = (sink.columns ?? 80) - TextWrap.columns(of: prompt)
        let (text, column) = line.visible(width: width)
        let place = TextWrap.columns(of: prompt) + column
        sink.draw("\r" + prompt + text + "\u{1B}[K\r" + (place > 0 ? "\u{1B}[\(place)C" : ""))
    }

    /// Inserts what all proposals have in common, and shows them if that is nothing more.
    private func proposeWords() async {
        let (start, words) = await complete(line.textBeforeCursor)
        guard let first = words.first else { return sink.leave("\u{07}") }
        let common = words.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        let typed = line.textBeforeCursor.dropFirst(start)
        if common.count > typed.count || words.count == 1 { return line.replace(from: start, with: common) }
        let shown = words.prefix(Self.maxShown).map { $0.trimmingSpaces() }
        let more = words.count > shown.count ? ["… \(words.count - shown.count) more"] : []
        let width = sink.columns ?? 80
        for part in TextWrap.joined(shown + more, separator: "  ", width: width - 1) {
            sink.leave("\r\n\u{1B}[K" + part)
        }
        sink.leave("\r\n")
    }
}

extension String {
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}
