extension UInt8 {
    var isASCIIAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "0") ... UInt8(ascii: "9"), UInt8(ascii: "A") ... UInt8(ascii: "Z"),
            UInt8(ascii: "a") ... UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

extension StringProtocol {
    /// Without spaces and tabs at both ends.
    func trimmingSpaces() -> String {
        trimming { $0 == " " || $0 == "\t" }
    }

    /// Without white space and line ends at both ends.
    func trimmingWhitespace() -> String {
        trimming { $0.isWhitespace }
    }

    private func trimming(_ isRemoved: (Character) -> Bool) -> String {
        var rest = self[...]
        while let first = rest.first, isRemoved(first) { rest = rest.dropFirst() }
        while let last = rest.last, isRemoved(last) { rest = rest.dropLast() }
        return String(rest)
    }
}

/// A text of a person or a server inside one line of ours, in quotation marks.
func quoted(_ text: some StringProtocol) -> String { "\"\(inlineText(String(text)))\"" }

/// A text of a person or a server inside one line of ours: no line ends, no controls, at most 200 characters.
func inlineText(_ text: String) -> String { TerminalText.inline(text, limit: 200) }
