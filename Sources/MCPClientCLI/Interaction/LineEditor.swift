import MCPCore

/// Reads lines at the terminal with editing, history and completion.
final class LineEditor {
    /// Returns the words to insert in the place of what was typed, and where that begins.
    typealias Complete = (String) async -> (start: Int, words: [String])

    private let prompt: String
    private let sink: PromptSink
    /// Returns the bytes that are typed next; nil at the end of the input, and when the task is cancelled.
    private let keyBytes: @Sendable () async -> [UInt8]?
    /// Called on Ctrl-C, where that ends the program.
    private let onInterrupt: (() -> Void)?
    private let complete: Complete
    private var decoder = KeyDecoder()
    private var keys: [Key] = []
    private var line = LineBuffer()
    /// The history, as it was edited, and the place in it.
    private var lines: [String] = []
    private var index = 0
    /// Whether Ctrl-C came right behind the line, and so is for the command in it.
    private(set) var interruptsCommand = false
    /// Whether the line is shown as it is now.
    private var isDrawn = false
    /// Whether the line was left for a question, and goes on.
    private var isKept = false

    /// The largest number of proposals that are shown.
    private static let maxShown = 100

    init(
        prompt: String, sink: PromptSink, keyBytes: @escaping @Sendable () async -> [UInt8]?,
        onInterrupt: (() -> Void)? = nil, complete: @escaping Complete = { _ in (0, []) }
    ) {
        self.prompt = prompt
        self.sink = sink
        self.keyBytes = keyBytes
        self.onInterrupt = onInterrupt
        self.complete = complete
    }

    /// Returns the next line; nil at the end of the input, and when the task is cancelled.
    ///
    /// It also returns nil when the turn is over. The line is then taken off the terminal, and the next
    /// reading goes on with it.
    func read(history: [String], _ turn: TerminalTurn) async -> InputLine? {
        interruptsCommand = false
        guard TerminalMode.readKeys() else { return nil }
        defer {
            sink.leave()
            TerminalMode.restore()
        }
        if isKept {
            decoder.dropUnfinished()
        } else {
            line = LineBuffer()
            lines = history + [""]
            index = lines.count - 1
        }
        isKept = false
        redraw()
        while let key = await next(turn) {
            // What was typed together with a key that acts on the line stands above what that brings.
            if !isDrawn, [.enter, .interrupt, .endOfInput, .tab].contains(key) { redraw() }
            isDrawn = false
            switch key {
            case .enter:
                // First, so that what follows the line end is the output of the command.
                TerminalMode.restore()
                sink.leave("\r\n")
                interrupt()
                let text = line.text
                return line.isCut || text.utf8.count > InputReader.maxLineBytes ? .tooLong : .text(text)
            case .endOfInput where line.characters.isEmpty:
                sink.leave("\r\n")
                return nil
            case .endOfInput: _ = line.apply(.delete)
            case .interrupt:
                sink.leave("^C\r\n")
                line = LineBuffer()
                index = lines.count - 1
                if let onInterrupt {
                    onInterrupt()
                    continue
                }
            case .clearScreen: sink.leave("\u{1B}[H\u{1B}[2J")
            case .up where index > 0, .down where index < lines.count - 1:
                lines[index] = line.text
                index += key == .up ? -1 : 1
                line = LineBuffer(lines[index])
            case .tab: await proposeWords()
            default: _ = line.apply(key)
            }
            // Once for all that was typed together: each time shows the whole line.
            if keys.isEmpty { redraw() }
        }
        if turn.isOver {
            isKept = true
            sink.erase()
        } else {
            sink.endLine()
        }
        return nil
    }

    private func next(_ turn: TerminalTurn) async -> Key? {
        while keys.isEmpty {
            // Read a paste to its end, so that the rest of it does not answer a question.
            let start = ContinuousClock.now
            let bytes = decoder.isPasting ? await keyBytes() : await turn.read(keyBytes)
            guard let bytes else { return nil }
            keys = decoder.take(bytes, after: .now - start)
        }
        return keys.removeFirst()
    }

    /// Takes Ctrl-C that arrived together with Return, and what was typed before it, as the terminal does
    /// while a command runs.
    private func interrupt() {
        guard let last = keys.lastIndex(of: .interrupt) else { return }
        keys.removeSubrange(...last)
        if let onInterrupt { onInterrupt() } else { interruptsCommand = true }
    }

    private func redraw() {
        let width = (sink.columns ?? 80) - TextWrap.columns(of: prompt)
        let (text, column) = line.visible(width: width)
        let place = TextWrap.columns(of: prompt) + column
        isDrawn = true
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
