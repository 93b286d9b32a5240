/// Text in HTML and XML.
package enum MarkupText {
    /// Returns a text as the contents or as an attribute's value.
    ///
    /// Characters that XML 1.0 does not have become U+FFFD.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n": escaped += "&#10;"
            case "\t": escaped += "&#9;"
            default:
                let isAllowed = scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                escaped.unicodeScalars.append(isAllowed ? scalar : "\u{FFFD}")
            }
        }
        return escaped
    }
}
