extension JSONWriter {
    /// Writes any `Encodable` value.
    ///
    /// - Throws: ``JSONError`` if a number is not finite or the depth limit is exceeded, and any error of the
    ///   value's own `encode(to:)`. In that case, nothing of the value is written.
    public mutating func encode(_ value: some Encodable) throws {
        let start = mark
        let earlier = failure
        failure = nil
        let state = JSONEncodingState(taking: &self)
        let result = Result { try state.value(value) }
        state.finish(from: start.count, into: &self)
        let late = failure
        failure = earlier
        do {
            try result.get()
            if let late { throw late }
        } catch {
            rewind(to: start)
            throw error
        }
    }
}

extension RawJSON {
    /// Encodes any `Encodable` value.
    ///
    /// - Throws: ``JSONError`` if a number is not finite or containers are nested deeper than 128 levels, and
    ///   any error of the value's own `encode(to:)`.
    public init(encoding value: some Encodable) throws {
        var writer = JSONWriter()
        try writer.encode(value)
        self.init(unchecked: writer.finish())
    }

    /// Decodes a type directly from the bytes.
    ///
    /// A missing member is nil for an `Optional`. The last value of a repeated name counts. Integers may be
    /// spelled `1.0` or `1e2`. Numbers beyond the range of the type are refused.
    ///
    /// - Throws: ``JSONError`` with the JSON pointer of the value that does not fit, such as `/days: expected
    ///   an integer, found a string`, and any error of the type's own `init(from:)`.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        let source = JSONDecodingSource(bytes)
        do { return try source.value(type, at: 0) } catch { throw source.located(error) }
    }
}

extension JSONValue {
    /// Encodes any `Encodable` value into a tree.
    ///
    /// - Throws: ``JSONError`` if a number is not finite or containers are nested deeper than 128 levels, and
    ///   any error of the value's own `encode(to:)`.
    public init(encoding value: some Encodable) throws { self = try RawJSON(encoding: value).value }

    /// Decodes a type from the tree; see ``RawJSON/decode(_:)``.
    ///
    /// - Throws: ``JSONError`` with the JSON pointer of the value that does not fit, or if the tree is deeper
    ///   than 128 levels, and any error of the type's own `init(from:)`.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        try RawJSON(encoding: self).decode(type)
    }
}
