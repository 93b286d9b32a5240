/// A cursor over the elements of a valid array.
struct JSONElements {
    private var scanner: JSONScanner
    /// The offset of the next element; nil after the last one.
    private(set) var current: Int?

    /// Creates a cursor from a scanner that is at the opening bracket.
    init(_ scanner: JSONScanner) {
        self.scanner = scanner
        self.scanner.position += 1
        self.scanner.skipWhitespace()
        current = self.scanner.peek == ASCII.closeBracket ? nil : self.scanner.position
    }

    /// Skips the next element and returns its offset.
    @inline(__always)
    mutating func next() throws(JSONError) -> Int? {
        guard let start = current else { return nil }
        scanner.position = start
        try scanner.scanValue(depth: 1)
        scanner.skipWhitespace()
        if scanner.peek == ASCII.comma {
            scanner.position += 1
            scanner.skipWhitespace()
            current = scanner.position
        } else {
            current = nil
        }
        return start
    }
}
