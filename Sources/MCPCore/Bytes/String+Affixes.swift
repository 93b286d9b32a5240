extension String {
    /// Returns what follows `prefix`, or `nil` if the string does not begin with it.
    package func dropping(prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }

    /// Returns what precedes `suffix`, or `nil` if the string does not end with it.
    package func dropping(suffix: String) -> String? {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : nil
    }

    /// The string without blanks at either end.
    package var trimmed: String {
        var bytes = utf8[...]
        while let first = bytes.first, ASCII.isLineBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, ASCII.isLineBlank(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }

    /// The last byte, in place, without the indices of a string.
    var lastByte: UInt8? {
        unsafe utf8.withContiguousStorageIfAvailable { unsafe $0.last } ?? utf8.last
    }
}

extension ASCII {
    /// Returns whether `byte` is blank at the end of a line, which may be CR LF.
    package static func isLineBlank(_ byte: UInt8) -> Bool { isBlank(byte) || byte == UInt8(ascii: "\r") }
}
