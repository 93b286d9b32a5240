import MCPCore

/// The words by which a name suggests that its value is secret: of a flag, a variable, an argument, a field.
enum SecretWords {
    private static let inside = ["token", "secret", "password", "passwd", "key", "auth", "credential"]
    /// Words that are a part of other words, and suggest a secret only as a whole.
    private static let whole: Set<String> = [
        "pin", "pwd", "pass", "passphrase", "passcode", "otp", "cvv", "cvc", "jwt", "sig", "signature",
        "bearer", "cookie", "pat", "totp", "mfa", "puk", "tan", "seed", "mnemonic",
    ]
    /// Those by which a server asks for a secret: fewer, since it may ask for an author, or a key.
    private static let asked = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "accesskey",
        "privatekey", "credential", "creditcard", "cardnumber", "sessionid", "securitycode", "onetimecode",
        "verificationcode", "recoverycode", "recoveryphrase", "seedphrase",
    ]
    private static let wholeAsked: Set<String> = [
        "pin", "pwd", "otp", "cvv", "cvc", "totp", "mfa", "puk", "tan",
    ]

    static func name(_ name: some StringProtocol) -> Bool {
        let lower = name.lowercased()
        return inside.contains { lower.contains($0) } || words(of: name).contains { whole.contains($0) }
    }

    /// Whether a field with this name, or this title, asks for a secret.
    static func asks(_ text: String) -> Bool {
        let letters = text.lowercased().filter(\.isLetter)
        return asked.contains { letters.contains($0) } || words(of: text).contains { wholeAsked.contains($0) }
    }

    /// Returns the words of a name in lower case: `user_pin`, `userPin`, `User PIN` and `PINCode` have two.
    private static func words(of name: some StringProtocol) -> [String] {
        var words = [""]
        let letters = Array(name)
        for (index, letter) in letters.enumerated() {
            let wasLower = index > 0 && letters[index - 1].isLowercase
            let isFollowed = index > 0 && index + 1 < letters.count && letters[index + 1].isLowercase
            if !letter.isLetter || letter.isUppercase && (wasLower || isFollowed) { words.append("") }
            if letter.isLetter { words[words.count - 1] += letter.lowercased() }
        }
        return words.filter { !$0.isEmpty }
    }

    /// A regular expression of JavaScript for texts in which such a name stands, in any case of letters.
    static let pattern: String = {
        let parts = (inside + asked).map { word in
            word.map { "[\($0)\($0.uppercased())]" }.joined(separator: "[-_ ]?")
        }
        let ends = whole.union(wholeAsked).sorted().map { word in
            (first: word.prefix(1), rest: word.dropFirst(), upper: word.uppercased())
        }
        let begun = ends.map { "\($0.first.uppercased())\($0.rest)|\($0.upper)" }.joined(separator: "|")
        let lower = ends.map { "\($0.first)\($0.rest)" }.joined(separator: "|")
        return parts.joined(separator: "|") + "|(?<![A-Za-z])(?:\(lower)|\(begun))(?![a-z])"
            + "|(?<=[a-z])(?:\(begun))(?![a-z])"
    }()
}
