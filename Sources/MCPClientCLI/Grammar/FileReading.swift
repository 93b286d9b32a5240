/// How a word on the command line names a file that the command reads. No result may replace such a file.
enum FileReading: Sendable, Hashable {
    /// The word is the path.
    case whole
    /// The path follows this text; `-` after `@` is standard input.
    case after(String)

    /// Returns the path; nil if the word names no file.
    func path(in word: String) -> String? {
        switch self {
        case .whole: return word
        case .after(let mark):
            guard word.hasPrefix(mark), word != mark + "-" else { return nil }
            return String(word.dropFirst(mark.count))
        }
    }
}
