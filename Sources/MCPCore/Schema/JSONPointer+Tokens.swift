/// JSON pointers in their text form, which is how paths into schemas and instances are stored.
extension JSONPointer {
    /// Returns `pointer` with one more token.
    static func appending(_ token: String, to pointer: String) -> String {
        pointer + "/" + escaped(token)
    }

    /// Returns the tokens of a pointer; nil when the string is not a pointer.
    static func tokens(of pointer: String) -> [String]? {
        guard !pointer.isEmpty else { return [] }
        guard pointer.utf8.first == 0x2F else { return nil }
        var result: [String] = []
        for token in pointer.unicodeScalars.dropFirst().split(
            separator: "/", omittingEmptySubsequences: false)
        {
            guard let plain = unescaped(token) else { return nil }
            result.append(plain)
        }
        return result
    }

    private static func unescaped(_ token: Substring.UnicodeScalarView) -> String? {
        var result = String.UnicodeScalarView()
        var rest = token
        while let scalar = rest.popFirst() {
            guard scalar == "~" else {
                result.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "0": result.append("~")
            case "1": result.append("/")
            default: return nil
            }
        }
        return String(result)
    }

    /// Returns the array index that a token denotes: digits without leading zeros.
    static func index(_ token: String) -> Int? {
        guard let first = token.utf8.first, token.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return nil
        }
        // Small: no conversion: digits are parsed, nil beyond Int.
        return first == 0x30 && token.utf8.count > 1 ? nil : Int(token)
    }
}
