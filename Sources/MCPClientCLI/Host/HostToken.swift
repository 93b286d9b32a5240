import MCPCore

/// The key to the page of one run: 128 random bits.
///
/// It is in the fragment of the address, which no server and no log ever sees.
struct HostToken: Sendable {
    let text: String

    /// Creates a new token.
    init() {
        var random = SystemRandomNumberGenerator()
        let words: [UInt64] = [random.next(), random.next()]
        text = words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Whether the value of an `Authorization` field contains the token, decided in a time that reveals
    /// nothing about it.
    func isShown(in field: String?) -> Bool {
        guard let words = field?.split(separator: " ", maxSplits: 1), words.count == 2,
            words[0].lowercased() == "bearer"
        else { return false }
        return constantTimeEquals(words[1].utf8, text.utf8)
    }
}
