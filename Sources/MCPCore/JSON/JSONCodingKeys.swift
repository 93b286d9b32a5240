/// Any name or index as a coding key.
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

/// Stands for the whole coding path of a value: its name is the JSON pointer, which is worked out when it is
/// asked for.
struct JSONPlaceKey: CodingKey, @unchecked Sendable {
    // SAFETY: reads only the immutable text of the source.
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
