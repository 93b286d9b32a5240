extension String {
    /// Returns the text without the surrounding white space that JavaScript's `trim` removes. The set differs
    /// from that of Foundation: U+0085 and U+200B are kept here, and U+FEFF is removed.
    func trimmedLikeJavaScript() -> String {
        let scalars = unicodeScalars
        var start = scalars.startIndex
        var end = scalars.endIndex
        while start < end, scalars[start].isJavaScriptSpace { start = scalars.index(after: start) }
        while start < end {
            let last = scalars.index(before: end)
            guard scalars[last].isJavaScriptSpace else { break }
            end = last
        }
        return String(scalars[start ..< end])
    }
}

extension Unicode.Scalar {
    fileprivate var isJavaScriptSpace: Bool {
        switch value {
        case 0x09 ... 0x0D, 0x20, 0xA0, 0x1680, 0x2000 ... 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
            0xFEFF:
            true
        default: false
        }
    }
}
