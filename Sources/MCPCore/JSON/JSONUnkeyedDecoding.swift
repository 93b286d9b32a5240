/// The elements of an array, for a type's `init(from:)`.
struct JSONUnkeyedDecoding: UnkeyedDecodingContainer {
    private let source: JSONDecodingSource
    private let position: Int
    private var elements: JSONElements
    let count: Int?
    private(set) var currentIndex = 0

    init(_ source: JSONDecodingSource, arrayAt position: Int) throws {
        self.source = source
        self.position = position
        elements = JSONElements(try source.array(at: position))
        var counted = elements
        var count = 0
        while try counted.next() != nil { count += 1 }
        self.count = count
    }

    var codingPath: [any CodingKey] { source.codingPath(elements.current ?? position) }
    var isAtEnd: Bool { elements.current == nil }

    /// Reads the next element and, if that succeeds, advances past it.
    @inline(__always)
    private mutating func next<R>(_ read: (JSONDecodingSource, Int) throws -> R) throws -> R {
        guard let start = elements.current else { throw JSONError(.missingElement, offset: position) }
        let value = try read(source, start)
        _ = try elements.next()
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard let start = elements.current else { throw JSONError(.missingElement, offset: position) }
        guard source.isNull(at: start) else { return false }
        return try next { _, _ in true }
    }

    mutating func decode(_: Bool.Type) throws -> Bool { try next { try $0.bool(at: $1) } }
    mutating func decode(_: String.Type) throws -> String { try next { try $0.string(at: $1) } }
    mutating func decode(_: Double.Type) throws -> Double { try next { try $0.double(at: $1) } }
    mutating func decode(_: Float.Type) throws -> Float { try next { try $0.float(at: $1) } }
    mutating func decode(_: Int.Type) throws -> Int { try next { try $0.integer(at: $1) } }
    mutating func decode(_: Int8.Type) throws -> Int8 { try next { try $0.integer(at: $1) } }
    mutating func decode(_: Int16.Type) throws -> Int16 { try next { try $0.integer(at: $1) } }
    mutating func decode(_: Int32.Type) throws -> Int32 { try next { try $0.integer(at: $1) } }
    mutating func decode(_: Int64.Type) throws -> Int64 { try next { try $0.integer(at: $1) } }
    mutating func decode(_: UInt.Type) throws -> UInt { try next { try $0.integer(at: $1) } }
    mutating func decode(_: UInt8.Type) throws -> UInt8 { try next { try $0.integer(at: $1) } }
    mutating func decode(_: UInt16.Type) throws -> UInt16 { try next { try $0.integer(at: $1) } }
    mutating func decode(_: UInt32.Type) throws -> UInt32 { try next { try $0.integer(at: $1) } }
    mutating func decode(_: UInt64.Type) throws -> UInt64 { try next { try $0.integer(at: $1) } }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next { try $0.value(type, at: $1) } }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy _: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next { KeyedDecodingContainer(try JSONKeyedDecoding<Nested>($0, objectAt: $1)) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try JSONUnkeyedDecoding($0, arrayAt: $1) }
    }

    mutating func superDecoder() throws -> any Decoder {
        try next { JSONDecoding(source: $0, position: $1) }
    }
}
