/// One argument as it was typed, before the schema is consulted.
package struct ArgumentWord: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        /// `k=v`: typed by the schema.
        case text(String)
        /// `k:=JSON`.
        case json(String)
        /// `k=@file`; `-` is stdin.
        case textFile(String)
        /// `k:=@file`; `-` is stdin.
        case jsonFile(String)
        /// `--k` alone.
        case flag
    }

    package let key: String
    package let value: Value

    /// Reads `k=v`, `k:=JSON`, `k=@file` or `k:=@file`; nil when the word has no key and sign.
    package init?(_ word: String) {
        guard let sign = word.firstIndex(of: "=") else { return nil }
        let rest = String(word[word.index(after: sign)...])
        var key = word[..<sign]
        let isJSON = key.last == ":"
        if isJSON { key = key.dropLast() }
        guard !key.isEmpty else { return nil }
        self.init(key: String(key), isJSON ? Self.json(rest) : Self.text(rest))
    }

    package init(key: String, _ value: Value) {
        self.key = key
        self.value = value
    }

    package static func text(_ text: String) -> Value {
        text.hasPrefix("@") ? .textFile(String(text.dropFirst())) : .text(text)
    }

    package static func json(_ text: String) -> Value {
        text.hasPrefix("@") ? .jsonFile(String(text.dropFirst())) : .json(text)
    }
}
