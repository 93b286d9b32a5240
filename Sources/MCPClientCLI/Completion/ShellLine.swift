/// A command line as it is being typed: its finished words without quotation marks, and the one at the
/// cursor.
///
/// Nothing in it is evaluated: `$(…)`, `$VAR` and `*` stay as they are.
struct ShellLine: Sendable, Hashable {
    enum Quote: Sendable, Hashable { case none, single, double }

    private(set) var words: [String] = []
    /// The word at the cursor, without quotation marks.
    private(set) var current = ""
    /// The quotation mark that is open at the cursor.
    private(set) var quote = Quote.none
    /// How many characters were typed for the part that the shell replaces, quotation marks inside included.
    private(set) var typedCount = 0
    /// How many characters of `current` stand before the part that the shell replaces.
    private(set) var kept = 0

    private static let separators: Set<Character> = [";", "|", "&", "(", ")", "<", ">", "\n"]

    /// Splits a line that ends at the cursor.
    ///
    /// - Parameter breaks: the characters at which the shell itself breaks words, as `COMP_WORDBREAKS` in
    ///   bash.
    init(_ line: String, breaks: String = "") { self.init(line, breaks, separators: Self.separators) }

    /// Splits a whole line of the shell of `mcp-client`, which has one command: `;` and its kind are text.
    init(whole line: String) {
        self.init(line, "", separators: [])
        if quote == .none, !current.isEmpty || typedCount > 0 { words.append(current) }
    }

    private init(_ line: String, _ breaks: String, separators: Set<Character>) {
        let breaks = Set(breaks).subtracting([" ", "\t", "\n", "\"", "'"])
        var isEscaped = false
        var isStarted = false
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        for character in line {
            typedCount += 1
            if isEscaped {
                isEscaped = false
                let isKept = quote == .double && !"$`\"\\\n".contains(character)
                current += isKept ? "\\" + String(character) : String(character)
                continue
            }
            switch (quote, character) {
            case (.single, "'"), (.double, "\""): quote = .none
            case (.none, "'"), (.none, "\""):
                quote = character == "'" ? .single : .double
                isStarted = true
                (kept, typedCount) = (current.count, 0)
            case (.none, "\\"), (.double, "\\"):
                isEscaped = true
                isStarted = true
            case (.none, _) where isBlank(character) || separators.contains(character):
                if isStarted || !current.isEmpty { words.append(current) }
                (current, isStarted, kept, typedCount) = ("", false, 0, 0)
                // What follows is another command.
                if !isBlank(character) { words = [] }
            default:
                isStarted = true
                current.append(character)
                if quote == .none, breaks.contains(character) { (kept, typedCount) = (current.count, 0) }
            }
        }
    }

    /// Reads one word of a shell: removes its quotation marks.
    init(word: String, before words: [String]) {
        var line = ShellLine("")
        var isEscaped = false
        for character in word {
            if isEscaped {
                isEscaped = false
                line.current.append(character)
                continue
            }
            switch (line.quote, character) {
            case (.single, "'"), (.double, "\""): line.quote = .none
            case (.none, "'"): line.quote = .single
            case (.none, "\""): line.quote = .double
            case (.none, "\\"), (.double, "\\"): isEscaped = true
            default: line.current.append(character)
            }
        }
        line.words = words
        self = line
    }

    /// Returns a word as bash inserts it in the place of what was typed; nil if it cannot be written there.
    func insertion(of candidate: Candidate) -> String? {
        guard candidate.value.hasPrefix(current.prefix(kept)) else { return nil }
        let rest = candidate.value.dropFirst(kept)
        switch quote {
        case .single: return rest.contains("'") ? nil : String(rest)
        case .double:
            // History expansion cannot be escaped between these marks.
            if rest.contains("!") { return nil }
            return rest.reduce(into: "") { $0 += "\\\"$`".contains($1) ? "\\\($1)" : String($1) }
        case .none:
            var out = ""
            for (index, character) in rest.enumerated() {
                let isHome = candidate.isPath && index == 0 && kept == 0 && character == "~"
                out += Self.isPlain(character) || isHome ? String(character) : "\\\(character)"
            }
            return out + (candidate.isPartial ? "" : " ")
        }
    }

    private static func isPlain(_ character: Character) -> Bool {
        guard let byte = character.asciiValue else { return true }
        return byte.isASCIIAlphanumeric || "_-./:=@%+,".utf8.contains(byte)
    }
}

extension ShellLine {
    /// Removes the name of the program from the words; returns false if there is none yet.
    mutating func dropProgram() -> Bool {
        guard !words.isEmpty else { return false }
        words.removeFirst()
        return true
    }
}
