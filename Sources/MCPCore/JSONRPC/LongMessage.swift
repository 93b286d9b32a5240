/// What the beginning, or the end, of a message says that is too long to be read.
enum LongMessage: Equatable {
    /// A response to one of our requests.
    case response(Int64)
    /// A request, a notification or a response to nobody, which concerns no request of ours.
    case other
    /// The part does not say: at the beginning, because the id stands behind the result, for example.
    case unknown

    /// The number of bytes from which it is determined.
    static let headBytes = 512
    /// The number of bytes at the end from which it is determined otherwise.
    static let tailBytes = 512

    init(_ head: ByteSlice) {
        var reader = Reader(bytes: unsafe head.withBytes { unsafe Array($0) })
        self = reader.read() ?? .unknown
    }

    /// Reads the members behind the last object or array of a message.
    init(tail: ByteSlice) {
        let bytes = unsafe tail.withBytes { unsafe Array($0) }
        let ends = [ASCII.closeBrace, ASCII.closeBracket]
        guard let last = bytes.lastIndex(where: { $0 > ASCII.space }), bytes[last] == ASCII.closeBrace,
            let end = bytes[..<last].lastIndex(where: ends.contains),
            let comma = bytes[(end + 1)...].firstIndex(where: { $0 > ASCII.space }),
            bytes[comma] == ASCII.comma
        else {
            self = .unknown
            return
        }
        var reader = Reader(bytes: [ASCII.openBrace] + bytes[(comma + 1) ... last])
        self = reader.read() ?? .unknown
    }

    private struct Reader {
        let bytes: [UInt8]
        var place = 0

        /// Returns nil if the text ends, or has an object or an array, before the id or the method.
        mutating func read() -> LongMessage? {
            guard take(ASCII.openBrace) else { return nil }
            repeat {
                guard let key = text(), take(ASCII.colon) else { return nil }
                if key.elementsEqual("method".utf8) { return .other }
                guard let value = scalar() else { return nil }
                if key.elementsEqual("id".utf8) {
                    let text = String(decoding: value, as: UTF8.self)
                    // Small: the initializer returns nil for numbers that do not fit.
                    return Int64(text).map { .response($0) } ?? .other
                }
            } while take(ASCII.comma)
            return nil
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            while place < bytes.count, bytes[place] <= ASCII.space { place += 1 }
            guard place < bytes.count, bytes[place] == byte else { return false }
            place += 1
            return true
        }

        /// A string without escapes; only its contents.
        private mutating func text() -> ArraySlice<UInt8>? {
            guard take(ASCII.quote), let end = bytes[place...].firstIndex(of: ASCII.quote) else { return nil }
            let text = bytes[place ..< end]
            place = end + 1
            return text.contains(ASCII.backslash) ? nil : text
        }

        /// A string, with its quotes, a number or a literal.
        private mutating func scalar() -> ArraySlice<UInt8>? {
            let start = place
            if text() != nil { return bytes[start ..< place] }
            place = start
            while place < bytes.count, bytes[place] <= ASCII.space { place += 1 }
            let first = place
            let ends = [ASCII.comma, ASCII.closeBrace, ASCII.openBrace, ASCII.openBracket, ASCII.space]
            guard let end = bytes[place...].firstIndex(where: { ends.contains($0) }), end > first else {
                return nil
            }
            place = end
            return bytes[first ..< end]
        }
    }
}
