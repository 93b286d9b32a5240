/// A file of variables, one `NAME=value` on each line, as the programs of many ecosystems read it (`.env`).
///
/// Blank lines and lines that begin with `#` are skipped, and `export` before a name. A value in single
/// quotation marks is taken as it is; in double ones, `\n`, `\"` and `\\` are escapes. Without them it
/// ends before ` #`. Nothing is expanded.
package enum EnvironmentFile {
    /// Returns the variables of a file in their order.
    ///
    /// - Throws: an error that names the first line that is not a variable, and does not repeat it.
    package static func variables(
        _ text: String, shownAs name: String
    ) throws(ConfigFileError) -> [(name: String, value: String)] {
        var variables: [(name: String, value: String)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var rest = trimmed(line)
            if rest.isEmpty || rest.hasPrefix("#") { continue }
            if rest.hasPrefix("export ") { rest = trimmed(rest.dropFirst(7)) }
            guard let sign = rest.firstIndex(of: "="),
                let value = value(of: trimmed(rest[rest.index(after: sign)...]))
            else { throw ConfigFileError(text: "\(name):\(index + 1): expected NAME=value") }
            let key = String(trimmed(rest[..<sign]))
            guard ServerEntry.isVariable(key, value), !key.contains(" ") else {
                throw ConfigFileError(text: "\(name):\(index + 1): expected NAME=value")
            }
            variables.append((key, value))
        }
        return variables
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text = text.dropLast() }
        return text
    }

    /// Returns a value without its quotation marks; nil if they are not closed.
    private static func value(of text: Substring) -> String? {
        guard let quote = text.first, quote == "'" || quote == "\"" else {
            let end = text.firstRange(of: " #")?.lowerBound ?? text.endIndex
            return String(trimmed(text[..<end]))
        }
        var value = ""
        var rest = text.dropFirst()
        while let character = rest.popFirst() {
            if character == quote { return value }
            if character == "\\", quote == "\"", let escaped = rest.popFirst() {
                value +=
                    escaped == "n"
                    ? "\n" : escaped == "\"" || escaped == "\\" ? String(escaped) : "\\\(escaped)"
            } else {
                value.append(character)
            }
        }
        return nil
    }
}
