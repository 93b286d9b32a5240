public import Foundation
public import MCPCore

extension JSONValue {
    /// Reads one JSON text.
    ///
    /// - Throws: `JSONError` with the byte at which the text is invalid or a limit is exceeded.
    public init(parsing data: Data, limits: JSONLimits = .init()) throws(JSONError) {
        try self.init(parsing: [UInt8](data), limits: limits)
    }

    /// Returns the value as JSON text in UTF-8.
    public func data(pretty: Bool = false) -> Data { Data(serialized(pretty: pretty).utf8) }
}

extension JSONDecoder {
    /// Decodes a value from a tree, with the strategies of this decoder.
    ///
    /// - Throws: the errors of `decode(_:from:)` for `Data`.
    public func decode<T: Decodable>(_ type: T.Type = T.self, from value: JSONValue) throws -> T {
        try decode(type, from: value.data())
    }

    /// Decodes a value from a validated text, with the strategies of this decoder.
    ///
    /// - Throws: the errors of `decode(_:from:)` for `Data`.
    public func decode<T: Decodable>(_ type: T.Type = T.self, from raw: RawJSON) throws -> T {
        try decode(type, from: Data(raw.bytes.array))
    }

    /// Decodes a value from the bytes of a text: `decode(Order.self, from: invocation.args)`. Without any,
    /// as for a call without arguments, the value is decoded from an empty object.
    ///
    /// - Throws: the errors of `decode(_:from:)` for `Data`.
    public func decode<T: Decodable>(_ type: T.Type = T.self, from bytes: [UInt8]?) throws -> T {
        try decode(type, from: bytes.map { Data($0) } ?? Data("{}".utf8))
    }
}

extension JSONEncoder {
    /// Encodes a value as a tree, with the strategies of this encoder: dates, keys, data.
    ///
    /// - Throws: the errors of `encode(_:)`, and `JSONError` for a text that exceeds the limits.
    public func encodeToJSON(_ value: some Encodable) throws -> JSONValue {
        try JSONValue(parsing: try encode(value))
    }
}
