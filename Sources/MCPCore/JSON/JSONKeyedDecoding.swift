/// The members of an object, for a type's `init(from:)`.
struct JSONKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let source: JSONDecodingSource
    private let position: Int
    private let members: Range<Int>
    /// The places of members by name, for objects with many members; the last one counts for repeated names.
    private let table: [JSONKey: Int]?

    init(_ source: JSONDecodingSource, objectAt position: Int) throws {
        self.source = source
        self.position = position
        members = try source.index(objectAt: position)
        guard members.count > JSONObject.linearLimit else {
            table = nil
            return
        }
        var table = [JSONKey: Int](minimumCapacity: members.count)
        let scanner = source.scanner(at: position)
        for place in members { table[JSONKey(name: scanner.unescape(source.entry(place).key))] = place }
        self.table = table
    }

    var codingPath: [any CodingKey] { source.codingPath(position) }

    var allKeys: [Key] {
        let scanner = source.scanner(at: position)
        return members.compactMap { place in
            let name = scanner.unescape(source.entry(place).key)
            return self.place(of: name) == place ? Key(stringValue: name) : nil
        }
    }

    /// Returns the place of the last member with that name.
    private func place(of name: String) -> Int? {
        if let table { return table[JSONKey(name: name)] }
        var name = name
        return name.withUTF8 { wanted in
            let scanner = source.scanner(at: position)
            var place = members.upperBound
            while place > members.lowerBound {
                place -= 1
                if unsafe scanner.tokenEquals(source.entry(place).key, utf8: wanted) { return place }
            }
            return nil
        }
    }

    @inline(__always)
    private func find(_ key: Key) -> Int? { place(of: key.stringValue).map { source.entry($0).value } }

    private func value(_ key: Key) throws(JSONError) -> Int {
        let name = key.stringValue
        guard let place = place(of: name) else { throw JSONError(.missingMember(name), offset: position) }
        return source.entry(place).value
    }

    /// Returns the value of a member that is present and not null.
    private func present(_ key: Key) -> Int? {
        guard let value = find(key), !source.isNull(at: value) else { return nil }
        return value
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { source.isNull(at: try value(key)) }
    func decode(_: Bool.Type, forKey key: Key) throws -> Bool { try source.bool(at: try value(key)) }
    func decode(_: String.Type, forKey key: Key) throws -> String { try source.string(at: try value(key)) }
    func decode(_: Double.Type, forKey key: Key) throws -> Double { try source.double(at: try value(key)) }
    func decode(_: Float.Type, forKey key: Key) throws -> Float { try source.float(at: try value(key)) }
    func decode(_: Int.Type, forKey key: Key) throws -> Int { try source.integer(at: try value(key)) }
    func decode(_: Int8.Type, forKey key: Key) throws -> Int8 { try source.integer(at: try value(key)) }
    func decode(_: Int16.Type, forKey key: Key) throws -> Int16 { try source.integer(at: try value(key)) }
    func decode(_: Int32.Type, forKey key: Key) throws -> Int32 { try source.integer(at: try value(key)) }
    func decode(_: Int64.Type, forKey key: Key) throws -> Int64 { try source.integer(at: try value(key)) }
    func decode(_: UInt.Type, forKey key: Key) throws -> UInt { try source.integer(at: try value(key)) }
    func decode(_: UInt8.Type, forKey key: Key) throws -> UInt8 { try source.integer(at: try value(key)) }
    func decode(_: UInt16.Type, forKey key: Key) throws -> UInt16 { try source.integer(at: try value(key)) }
    func decode(_: UInt32.Type, forKey key: Key) throws -> UInt32 { try source.integer(at: try value(key)) }
    func decode(_: UInt64.Type, forKey key: Key) throws -> UInt64 { try source.integer(at: try value(key)) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try source.value(type, at: try value(key))
    }

    // The default implementations look up a member three times.
    func decodeIfPresent(_: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key).map { try source.bool(at: $0) }
    }
    func decodeIfPresent(_: String.Type, forKey key: Key) throws -> String? {
        try present(key).map { try source.string(at: $0) }
    }
    func decodeIfPresent(_: Double.Type, forKey key: Key) throws -> Double? {
        try present(key).map { try source.double(at: $0) }
    }
    func decodeIfPresent(_: Int.Type, forKey key: Key) throws -> Int? {
        try present(key).map { try source.integer(at: $0) }
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try present(key).map { try source.value(type, at: $0) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy _: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(try JSONKeyedDecoding<Nested>(source, objectAt: try value(key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try JSONUnkeyedDecoding(source, arrayAt: try value(key))
    }

    func superDecoder() throws -> any Decoder {
        let name = JSONCodingKey.super.stringValue
        guard let place = place(of: name) else { throw JSONError(.missingMember(name), offset: position) }
        return JSONDecoding(source: source, position: source.entry(place).value)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        JSONDecoding(source: source, position: try value(key))
    }
}
