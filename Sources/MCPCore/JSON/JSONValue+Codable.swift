// The coders of this module read and write these types as they are. Other coders, such as Foundation's, use
// the means that `Codable` offers; numbers then keep their value, but not their spelling.

extension JSONValue: Codable {
    /// Reads a value of any kind.
    public init(from decoder: any Decoder) throws {
        if let own = decoder as? JSONDecoding {
            self = try own.source.tree(at: own.position)
            return
        }
        guard decoder.codingPath.count <= JSONLimits.greatestDepth else {
            throw JSONError(.depthExceeded(JSONLimits.greatestDepth))
        }
        if let object = try? decoder.container(keyedBy: JSONCodingKey.self) {
            self = .object(try JSONObject(object))
        } else if var array = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !array.isAtEnd { elements.append(try array.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else {
                self = .number(try JSONNumber(from: decoder))
            }
        }
    }

    /// Writes the value according to its kind.
    public func encode(to encoder: any Encoder) throws {
        if let own = encoder as? JSONEncoding { return own.state.write { $0.value(self) } }
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try value.encode(to: encoder)
        case .number(let value): try value.encode(to: encoder)
        case .string(let value): try value.encode(to: encoder)
        case .array(let value): try value.encode(to: encoder)
        case .object(let value): try value.encode(to: encoder)
        }
    }
}

extension JSONNumber: Codable {
    /// Reads a number.
    public init(from decoder: any Decoder) throws {
        if let own = decoder as? JSONDecoding {
            self = try own.source.number(at: own.position)
            return
        }
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int64.self) {
            self.init(value)
        } else if let value = try? container.decode(UInt64.self) {
            self.init(value)
        } else {
            let value = try container.decode(Double.self)
            guard let number = JSONNumber(value) else { throw JSONError(.numberOutOfRange("Double")) }
            self = number
        }
    }

    /// Writes the number; other encoders receive an integer if it is one that fits, otherwise the nearest
    /// `Double`.
    public func encode(to encoder: any Encoder) throws {
        if let own = encoder as? JSONEncoding { return own.state.write { $0.number(self) } }
        if let value = int64 { return try value.encode(to: encoder) }
        if let value = uint64 { return try value.encode(to: encoder) }
        try double.encode(to: encoder)
    }
}

extension JSONObject: Codable {
    /// Reads an object.
    public init(from decoder: any Decoder) throws {
        if let own = decoder as? JSONDecoding {
            self = try own.source.object(at: own.position)
        } else {
            self = try JSONObject(decoder.container(keyedBy: JSONCodingKey.self))
        }
    }

    fileprivate init(_ container: KeyedDecodingContainer<JSONCodingKey>) throws {
        self.init()
        for key in container.allKeys {
            self[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
        }
    }

    /// Writes the members in order.
    public func encode(to encoder: any Encoder) throws {
        if let own = encoder as? JSONEncoding { return own.state.write { $0.object(self) } }
        var container = encoder.container(keyedBy: JSONCodingKey.self)
        for (key, value) in self { try container.encode(value, forKey: JSONCodingKey(stringValue: key)) }
    }
}

extension RawJSON: Codable {
    /// Reads a value of any kind; this module's decoder does not copy it.
    public init(from decoder: any Decoder) throws {
        if let own = decoder as? JSONDecoding {
            self = try own.source.raw(at: own.position)
        } else {
            self.init(try JSONValue(from: decoder))
        }
    }

    /// Writes the value; this module's encoder keeps its spelling.
    public func encode(to encoder: any Encoder) throws {
        if let own = encoder as? JSONEncoding { return own.state.write { $0.raw(self) } }
        try value.encode(to: encoder)
    }
}
