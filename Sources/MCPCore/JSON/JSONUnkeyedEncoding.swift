/// The elements of an array, for a type's `encode(to:)`.
struct JSONUnkeyedEncoding: UnkeyedEncodingContainer {
    let state: JSONEncodingState
    /// The number of open containers around this one's elements, including this one.
    let level: Int
    private(set) var count = 0

    init(state: JSONEncodingState, level: Int) {
        self.state = state
        self.level = level
    }

    var codingPath: [any CodingKey] { [] }

    @inline(__always)
    private mutating func next() throws(JSONError) -> JSONEncodingState {
        try state.enter(level)
        count += 1
        return state
    }

    mutating func encodeNil() throws { try next().write { $0.null() } }
    mutating func encode(_ value: Bool) throws { try next().write { $0.bool(value) } }
    mutating func encode(_ value: String) throws { try next().write { $0.string(value) } }
    mutating func encode(_ value: Double) throws { try next().double(value) }
    mutating func encode(_ value: Float) throws { try next().double(value) }
    mutating func encode(_ value: Int) throws { try next().integer(value) }
    mutating func encode(_ value: Int8) throws { try next().integer(value) }
    mutating func encode(_ value: Int16) throws { try next().integer(value) }
    mutating func encode(_ value: Int32) throws { try next().integer(value) }
    mutating func encode(_ value: Int64) throws { try next().integer(value) }
    mutating func encode(_ value: UInt) throws { try next().integer(value) }
    mutating func encode(_ value: UInt8) throws { try next().integer(value) }
    mutating func encode(_ value: UInt16) throws { try next().integer(value) }
    mutating func encode(_ value: UInt32) throws { try next().integer(value) }
    mutating func encode(_ value: UInt64) throws { try next().integer(value) }
    mutating func encode<T: Encodable>(_ value: T) throws { try next().value(value) }

    /// Returns the state for a gap. Its user cannot receive an error, so on error the whole text is refused.
    private mutating func hole() -> JSONEncodingState {
        do { _ = try next() } catch { state.write { $0.fail(error) } }
        return state.hole()
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        JSONEncoding(state: hole(), level: 0).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONEncoding(state: hole(), level: 0).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { JSONEncoding(state: hole(), level: 0) }
}
