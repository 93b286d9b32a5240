/// Words for a shell, as shown in hints and usage lines.
enum ShellWord {
    /// Returns the word quoted so that a shell can read it back.
    static func quote(_ word: String) -> String { isPlain(word) ? word : quoted(inlineText(word)) }

    /// Returns the word as the last operand of a command: behind `--` if it looks like a flag.
    static func operand(_ word: String) -> String { (word.hasPrefix("-") ? "-- " : "") + quote(word) }

    /// Returns the whole word, whatever its length; blanks and characters that nobody would see are named.
    static func visible(_ word: String) -> String { isPlain(word) ? word : quoted(VisibleText.line(word)) }

    private static func isPlain(_ word: String) -> Bool {
        !word.isEmpty && !word.hasPrefix("#")
            && word.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_-./:=@%+,#".utf8.contains($0) }
    }

    private static func quoted(_ text: String) -> String {
        var out = "'"
        for character in text { out += character == "'" ? "'\\''" : String(character) }
        return out + "'"
    }
}
