import MCPCore

/// What is masked never hides which files and variables are read: placeholders stay, whatever is around them.
extension MaskedText {
    /// The private characters that stand for placeholders while a text is masked, two for each one.
    private static let standIns: ClosedRange<UInt32> = 0xF0000 ... 0xFFFFD

    /// Masks a text except for its placeholders, and the defaults in them, since any of that may be a secret.
    static func value(_ text: String) -> String {
        keepingPlaceholders(in: [text]) { texts in texts.map(plainValue) }[0]
    }

    /// Masks texts so that their placeholders stay: while that is done, a single character stands for each,
    /// so that nothing in a path or a default separates words or the parts of a URL.
    static func keepingPlaceholders(in texts: [String], _ mask: ([String]) -> [String]) -> [String] {
        var shown: [String] = []
        /// Returns the stand-in for a text, and for what is shown of it where its surroundings are masked.
        func standIn(_ text: String, _ masked: String) -> String {
            guard let scalar = Unicode.Scalar(standIns.lowerBound + UInt32(shown.count)),
                standIns.contains(scalar.value + 1)
            else { return text }
            shown += [text, masked]
            return String(Character(scalar))
        }
        let hidden = texts.map { text -> String in
            Expansion.pieces(of: text).map { piece -> String in
                switch piece {
                case .escape: return "$${"
                case .placeholder(let placeholder):
                    return standIn(shownText(of: placeholder), masked(placeholder))
                case .text(let part), .unterminated(let part):
                    // One that the text itself contains stands for itself.
                    return part.unicodeScalars.map { scalar -> String in
                        let text = String(Character(scalar))
                        return standIns.contains(scalar.value) ? standIn(text, text) : text
                    }.joined()
                }
            }.joined()
        }
        return mask(hidden).map { text -> String in
            text.unicodeScalars.map { scalar -> String in
                guard standIns.contains(scalar.value) else { return String(Character(scalar)) }
                let index = Int(scalar.value - standIns.lowerBound)
                return shown.indices.contains(index) ? shown[index] : String(Character(scalar))
            }.joined()
        }
    }

    /// Masks all of a text but the characters that stand for placeholders.
    static func plainValue(_ text: String) -> String {
        var parts: [String] = []
        for scalar in text.unicodeScalars {
            if standIns.contains(scalar.value) {
                let isShown = (scalar.value - standIns.lowerBound).isMultiple(of: 2)
                let masked = isShown ? Unicode.Scalar(scalar.value + 1) : scalar
                parts.append(String(Character(masked ?? scalar)))
            } else if parts.last != mask {
                parts.append(mask)
            }
        }
        return parts.isEmpty ? mask : parts.joined()
    }

    private static func masked(_ placeholder: Expansion.Placeholder) -> String {
        withDefault(of: placeholder) { _, _ in mask }
    }

    /// Returns a placeholder whose surroundings are no secret: its default is shown like a word of its own.
    private static func shownText(of placeholder: Expansion.Placeholder) -> String {
        withDefault(of: placeholder) { name, text in isSecretName(name) ? mask : words([text])[0] }
    }

    /// Replaces the default of a placeholder, which may be a secret, also where its name is not valid.
    private static func withDefault(
        of placeholder: Expansion.Placeholder, _ show: (_ name: String, _ text: String) -> String
    ) -> String {
        guard let sign = placeholder.name.firstRange(of: ":-"), sign.upperBound < placeholder.name.endIndex
        else { return placeholder.text }
        switch placeholder.source {
        case .variable, .unknown: break
        case .file, .input, .userHome, .configDirectory, .workspaceFolder: return placeholder.text
        }
        let name = String(placeholder.name[..<sign.lowerBound])
        return "${\(name):-\(show(name, String(placeholder.name[sign.upperBound...])))}"
    }
}
