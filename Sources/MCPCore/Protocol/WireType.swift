/// A type of the protocol: read from JSON by hand and written by hand, for any revision.
///
/// `Codable` comes with it, so that such a value can stand inside your own types.
public protocol WireType: Codable, Sendable, Hashable {
    /// Reads the value; unknown members are ignored (JRPC-23).
    init(json: JSONValue) throws(JSONError)

    /// Writes the value as the newest revision has it.
    var json: JSONValue { get }
}

/// How a wire type is written for one revision.
protocol RevisionedWireType: WireType {
    func write(to writer: inout JSONWriter, for revision: Revision)
}

extension RevisionedWireType {
    /// The value as the newest revision has it.
    public var json: JSONValue {
        var writer = JSONWriter()
        write(to: &writer, for: .newest)
        return RawJSON(unchecked: writer.finish()).value
    }
}

extension WireType {
    /// Decodes by way of JSON.
    public init(from decoder: any Decoder) throws { try self.init(json: JSONValue(from: decoder)) }

    /// Encodes as the newest revision has it.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

/// Reads the members of one object and says which is wrong.
struct MemberReader {
    let object: JSONObject

    init(_ json: JSONValue, as type: StaticString) throws(JSONError) {
        guard case .object(let object) = json else {
            throw JSONError(.typeMismatch(expected: "\(type) object", found: json.kind), path: "")
        }
        self.object = object
    }

    subscript(key: String) -> JSONValue? {
        guard let value = object[key], !value.isNull else { return nil }
        return value
    }

    private func mismatch(_ key: String, _ expected: String) -> JSONError {
        JSONError(.typeMismatch(expected: expected, found: object[key]?.kind ?? .null), path: "/\(key)")
    }

    func string(_ key: String) throws(JSONError) -> String {
        guard let text = try optionalString(key) else {
            throw JSONError(.missingMember(key), path: "")
        }
        return text
    }

    func optionalString(_ key: String) throws(JSONError) -> String? {
        guard let value = self[key] else { return nil }
        guard case .string(let text) = value else { throw mismatch(key, "a string") }
        return text
    }

    func optionalBool(_ key: String) throws(JSONError) -> Bool? {
        guard let value = self[key] else { return nil }
        guard case .bool(let flag) = value else { throw mismatch(key, "true or false") }
        return flag
    }

    func optionalInt(_ key: String) throws(JSONError) -> Int? {
        guard let value = self[key] else { return nil }
        guard let number = value.intValue else { throw mismatch(key, "an integer") }
        return number
    }

    func optionalDouble(_ key: String) throws(JSONError) -> Double? {
        guard let value = self[key] else { return nil }
        guard let number = value.doubleValue else { throw mismatch(key, "a number") }
        // Infinity could not be written again: JSON lacks it.
        guard number.isFinite else { throw JSONError(.numberOutOfRange("Double"), path: "/\(key)") }
        return number
    }

    func optionalObject(_ key: String) throws(JSONError) -> JSONObject? {
        guard let value = self[key] else { return nil }
        guard case .object(let object) = value else { throw mismatch(key, "an object") }
        return object
    }

    /// `_meta` as some servers spell it, for user interfaces alone (MCP Apps 2026-01-26 "UI Resource
    /// Format").
    var misspelledMeta: JSONObject? {
        guard let meta = object["meta"]?.objectValue, meta["ui"]?.objectValue != nil else { return nil }
        return meta
    }

    func strings(_ key: String) throws(JSONError) -> [String] {
        guard let value = self[key] else { return [] }
        guard case .array(let items) = value else { throw mismatch(key, "an array of strings") }
        var strings: [String] = []
        for item in items {
            guard case .string(let text) = item else { throw mismatch(key, "an array of strings") }
            strings.append(text)
        }
        return strings
    }

    /// An array of wire types; absent means empty unless `required`.
    func array<T: WireType>(
        _ key: String, of type: T.Type = T.self, required: Bool = false
    ) throws(JSONError) -> [T] {
        guard let value = self[key] else {
            if required { throw JSONError(.missingMember(key), path: "") }
            return []
        }
        guard case .array(let items) = value else { throw mismatch(key, "an array") }
        var result: [T] = []
        result.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            do {
                result.append(try T(json: item))
            } catch {
                throw error.prefixed(by: "/\(key)/\(index)")
            }
        }
        return result
    }

    func optional<T: WireType>(_ key: String, as type: T.Type = T.self) throws(JSONError) -> T? {
        guard let value = self[key] else { return nil }
        do {
            return try T(json: value)
        } catch {
            throw error.prefixed(by: "/\(key)")
        }
    }
}

extension JSONError {
    /// The same error, seen from further outside.
    func prefixed(by outer: String) -> JSONError {
        var error = self
        error.path = outer + (path ?? "")
        return error
    }
}
