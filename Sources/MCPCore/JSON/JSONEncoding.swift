/// The encoder of one value, and its single-value container.
struct JSONEncoding: Encoder, SingleValueEncodingContainer {
    let state: JSONEncodingState
    /// The number of open containers around the value.
    let level: Int

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedEncodingContainer<Key> {
        state.open(object: true, at: level)
        return KeyedEncodingContainer(JSONKeyedEncoding<Key>(state: state, level: level + 1))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        state.open(object: false, at: level)
        return JSONUnkeyedEncoding(state: state, level: level + 1)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws { state.write { $0.null() } }
    func encode(_ value: Bool) throws { state.write { $0.bool(value) } }
    func encode(_ value: String) throws { state.write { $0.string(value) } }
    func encode(_ value: Double) throws { try state.double(value) }
    func encode(_ value: Float) throws { try state.double(value) }
    func encode(_ value: Int) throws { state.integer(value) }
    func encode(_ value: Int8) throws { state.integer(value) }
    func encode(_ value: Int16) throws { state.integer(value) }
    func encode(_ value: Int32) throws { state.integer(value) }
    func encode(_ value: Int64) throws { state.integer(value) }
    func encode(_ value: UInt) throws { state.integer(value) }
    func encode(_ value: UInt8) throws { state.integer(value) }
    func encode(_ value: UInt16) throws { state.integer(value) }
    func encode(_ value: UInt32) throws { state.integer(value) }
    func encode(_ value: UInt64) throws { state.integer(value) }
    func encode<T: Encodable>(_ value: T) throws { try state.value(value) }
}
