/// The members of an object, for a type's `encode(to:)`.
struct JSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let state: JSONEncodingState
    /// The number of open containers inside this one's members, including this one.
    let level: Int

    var codingPath: [any CodingKey] { [] }

    @inline(__always)
    private func name(_ key: some CodingKey) throws(JSONError) {
        try state.enter(level)
        state.write { $0.key(key.stringValue) }
    }

    func encodeNil(forKey key: Key) throws {
        try name(key)
        state.write { $0.null() }
    }
    func encode(_ value: Bool, forKey key: Key) throws {
        try name(key)
        state.write { $0.bool(value) }
    }
    func encode(_ value: String, forKey key: Key) throws {
        try name(key)
        state.write { $0.string(value) }
    }
    func encode(_ value: Double, forKey key: Key) throws {
        try name(key)
        try state.double(value)
    }
    func encode(_ value: Float, forKey key: Key) throws {
        try name(key)
        try state.double(value)
    }
    func encode(_ value: Int, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int8, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int16, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int32, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: Int64, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try integer(value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try integer(value, key) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try name(key)
        try state.value(value)
    }

    @inline(__always)
    private func integer(_ value: some FixedWidthInteger, _ key: Key) throws {
        try name(key)
        state.integer(value)
    }

    /// Returns the state for a gap with this name. Its user cannot receive an error, so on error the whole
    /// text is refused.
    private func hole(_ key: some CodingKey) -> JSONEncodingState {
        do { try name(key) } catch { state.write { $0.fail(error) } }
        return state.hole()
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        JSONEncoding(state: hole(key), level: 0).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONEncoding(state: hole(key), level: 0).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONEncoding(state: hole(JSONCodingKey.super), level: 0) }

    func superEncoder(forKey key: Key) -> any Encoder { JSONEncoding(state: hole(key), level: 0) }
}
