/// The answers to a prompt. Only a whole word, or its letter, counts: neither an empty line nor the end of
/// the input, nor what was typed for something else, agrees to anything.
struct PromptAnswer {
    /// The words, by the letter that stands for each.
    private let words: [Character: String]

    init(_ words: [Character: String]) { self.words = words }

    /// The answers to a question that is about consent alone.
    static let consent = PromptAnswer(["y": "yes", "n": "no"])

    /// Returns the letter of the answer; nil if the line is none.
    func letter(of line: String?) -> Character? {
        guard let text = line?.trimmingSpaces().lowercased() else { return nil }
        return words.first { text == String($0.key) || text == $0.value }?.key
    }

    /// Returns whether a line gives consent.
    static func isYes(_ line: String?) -> Bool { consent.letter(of: line) == "y" }
}
