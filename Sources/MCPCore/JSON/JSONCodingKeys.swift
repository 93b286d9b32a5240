/// A coding key for any name or index.
struct JSONCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    static var `super`: JSONCodingKey { JSONCodingKey(stringValue: "super") }
}

/// A key that represents the whole coding path of a value; its name is the JSON pointer, computed on demand.
struct JSONPlaceKey: CodingKey, @unchecked Sendable {
    // SAFETY: only the immutable text of the source is read.
    private let source: JSONDecodingSource
    let offset: Int

    init(source: JSONDecodingSource, offset: Int) {
        self.source = source
        self.offset = offset
    }

    var stringValue: String { JSONPointer.path(to: offset, in: source.text) }
    var intValue: Int? { nil }

    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}
