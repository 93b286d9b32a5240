/// A line that is being edited, and the place of the cursor in it.
struct LineBuffer: Sendable, Hashable {
    /// The longest line, in characters.
    static let maxLength = InputReader.maxLineBytes

    private(set) var characters: [Character] = []
    private(set) var cursor = 0
    /// Whether something that was typed had no place.
    private(set) var isCut = false

    init(_ text: String = "") {
        characters = Array(text.prefix(Self.maxLength))
        cursor = characters.count
    }

    var text: String { String(characters) }
    var textBeforeCursor: String { String(characters[..<cursor]) }

    mutating func insert(_ text: String) {
        let added = Array(text.prefix(max(0, Self.maxLength - characters.count)))
        if added.count < text.count { isCut = true }
        characters.insert(contentsOf: added, at: cursor)
        cursor += added.count
    }

    /// Replaces the characters before the cursor, from `start` on.
    mutating func replace(from start: Int, with text: String) {
        characters.removeSubrange(min(start, cursor) ..< cursor)
        cursor = min(start, cursor)
        insert(text)
    }

    /// Changes the line as a key demands; returns false if the key does not edit.
    mutating func apply(_ key: Key) -> Bool {
        switch key {
        case .text(let text): insert(text)
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(characters.count, cursor + 1)
        case .home: cursor = 0
        case .end: cursor = characters.count
        case .wordLeft: cursor = wordStart
        case .wordRight: cursor = wordEnd
        case .backspace: if cursor > 0 { remove(cursor - 1 ..< cursor) }
        case .delete: if cursor < characters.count { remove(cursor ..< cursor + 1) }
        case .deleteWord: remove(wordStart ..< cursor)
        case .deleteToStart: remove(0 ..< cursor)
        case .deleteToEnd: remove(cursor ..< characters.count)
        default: return false
        }
        return true
    }

    private mutating func remove(_ range: Range<Int>) {
        characters.removeSubrange(range)
        cursor = range.lowerBound
    }

    private var wordStart: Int {
        var index = cursor
        while index > 0, characters[index - 1] == " " { index -= 1 }
        while index > 0, characters[index - 1] != " " { index -= 1 }
        return index
    }

    private var wordEnd: Int {
        var index = cursor
        while index < characters.count, characters[index] == " " { index += 1 }
        while index < characters.count, characters[index] != " " { index += 1 }
        return index
    }

    /// Returns the part of the line around the cursor that fits into `width` columns, and the column of the
    /// cursor in it.
    func visible(width: Int) -> (text: String, column: Int) {
        let width = max(width, 4)
        var start = 0
        var column = columns(0 ..< cursor)
        // The window moves by half of its width.
        while column >= width, start < cursor {
            let end = min(start + width / 2, cursor)
            column -= columns(start ..< end)
            start = end
        }
        let text = TextWrap.prefix(of: String(characters[start...]), width: width - 1)
        return (text, column)
    }

    private func columns(_ range: Range<Int>) -> Int {
        characters[range].reduce(0) { $0 + TextWrap.columns(of: $1) }
    }
}
