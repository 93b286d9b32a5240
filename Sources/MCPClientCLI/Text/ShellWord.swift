/// Words for a shell, as shown in hints and usage lines.
enum ShellWord {
    /// Returns the word quoted so that a shell can read it back.
    static func quote(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_-./:=@%+,#".utf8.contains($0) }
        if isPlain, !word.hasPrefix("#") { return word }
        var out = "'"
        for character in inlineText(word) { out += character == "'" ? "'\\''" : String(character) }
        return out + "'"
    }
}
