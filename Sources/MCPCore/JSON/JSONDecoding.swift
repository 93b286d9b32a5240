/// The decoder of one value, and its single-value container.
struct JSONDecoding: Decoder, SingleValueDecodingContainer {
    let source: JSONDecodingSource
    let position: Int

    var codingPath: [any CodingKey] { source.codingPath(position) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try JSONKeyedDecoding<Key>(source, objectAt: position))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try JSONUnkeyedDecoding(source, arrayAt: position)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { source.isNull(at: position) }
    func decode(_: Bool.Type) throws -> Bool { try source.bool(at: position) }
    func decode(_: String.Type) throws -> String { try source.string(at: position) }
    func decode(_: Double.Type) throws -> Double { try source.double(at: position) }
    func decode(_: Float.Type) throws -> Float { try source.float(at: position) }
    func decode(_: Int.Type) throws -> Int { try source.integer(at: position) }
    func decode(_: Int8.Type) throws -> Int8 { try source.integer(at: position) }
    func decode(_: Int16.Type) throws -> Int16 { try source.integer(at: position) }
    func decode(_: Int32.Type) throws -> Int32 { try source.integer(at: position) }
    func decode(_: Int64.Type) throws -> Int64 { try source.integer(at: position) }
    func decode(_: UInt.Type) throws -> UInt { try source.integer(at: position) }
    func decode(_: UInt8.Type) throws -> UInt8 { try source.integer(at: position) }
    func decode(_: UInt16.Type) throws -> UInt16 { try source.integer(at: position) }
    func decode(_: UInt32.Type) throws -> UInt32 { try source.integer(at: position) }
    func decode(_: UInt64.Type) throws -> UInt64 { try source.integer(at: position) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try source.value(type, at: position) }
}
