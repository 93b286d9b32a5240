/// A decoder without data: it records what is requested from it and returns sample values.
struct ProbeDecoder: Decoder {
    let probe: Probe
    let node: ProbeNode

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedDecodingContainer<Key> {
        node.shape = .object
        return KeyedDecodingContainer(ProbeMembers<Key>(probe: probe, node: node))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        let element = ProbeNode()
        node.shape = .array(element)
        return ProbeElements(probe: probe, element: element)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ProbeSingle(probe: probe, node: node) }
}

/// The members of an object.
private struct ProbeMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: Probe
    let node: ProbeNode

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
        node.setOptional(key.stringValue)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool {
        node.setOptional(key.stringValue)
        return false
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try probe.value(type, node.member(key.stringValue))
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) -> T? {
        node.setOptional(key.stringValue)
        return try? probe.value(type, node.member(key.stringValue))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        ProbeDecoder(probe: probe, node: node.member(key.stringValue)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        ProbeDecoder(probe: probe, node: node.member(key.stringValue)).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { ProbeDecoder(probe: probe, node: node.member("super")) }

    func superDecoder(forKey key: Key) -> any Decoder {
        ProbeDecoder(probe: probe, node: node.member(key.stringValue))
    }
}

/// The elements of an array: exactly one, so that a loop over them ends.
private struct ProbeElements: UnkeyedDecodingContainer {
    let probe: Probe
    let element: ProbeNode
    var currentIndex = 0

    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    var isAtEnd: Bool { currentIndex > 0 }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        currentIndex += 1
        return try probe.value(type, element)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedDecodingContainer<Nested> {
        currentIndex += 1
        return ProbeDecoder(probe: probe, node: element).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
        currentIndex += 1
        return ProbeDecoder(probe: probe, node: element).unkeyedContainer()
    }

    mutating func superDecoder() -> any Decoder {
        currentIndex += 1
        return ProbeDecoder(probe: probe, node: element)
    }
}

/// A single value.
private struct ProbeSingle: SingleValueDecodingContainer {
    let probe: Probe
    let node: ProbeNode

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool {
        node.isNullable = true
        return false
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try probe.value(type, node) }
}
